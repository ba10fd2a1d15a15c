"""The lean forms do what the modules of the standard library do."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import hashlib
import importlib
import json
import pkgutil
import re
import signal
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wc_core.base import lean
from wc_core.base.lean import contextlib as lean_contextlib
from wc_core.base.lean import datetime as lean_datetime
from wc_core.base.lean import functools as lean_functools
from wc_core.base.lean import hashlib as lean_hashlib
from wc_core.base.lean import json as lean_json
from wc_core.base.lean import re as lean_re
from wc_core.base.lean import signal as lean_signal
from wc_core.base.lean import sqlite3 as lean_sqlite3

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCALARS = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    st.sampled_from(["\ud800", "\u2028", "\x7f", '"\\/\b']),
)
KEYS = st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.floats())
VALUES = st.recursive(
    SCALARS,
    lambda members: st.one_of(
        st.lists(members, max_size=4),
        st.dictionaries(KEYS, members, max_size=4),
        st.tuples(members),
    ),
    max_leaves=12,
)
FORMS: list[dict[str, Any]] = [
    {},
    {"ensure_ascii": False},
    {"separators": (",", ":")},
    {"ensure_ascii": False, "separators": (",", ":")},
    {"indent": 2},
    {"indent": 1, "ensure_ascii": False},
    {"indent": 0},
    {"indent": 2, "sort_keys": True},
    {"sort_keys": True},
]


def outcome(
    function: Callable[..., object], *values: object, **named: object
) -> object:
    """What a function returns as text, or which error it raises."""
    try:
        return repr(function(*values, **named))
    except Exception as error:  # noqa: BLE001 - compared with another
        return type(error)


@given(VALUES, st.sampled_from(FORMS))
@example({"a": {1, 2}}, {})
@example({(1, 2): 0}, {"indent": 2})
@example([[], {}, [[]], {"a": {}}], {"indent": 2})
def test_json_is_encoded_alike(value: object, form: dict[str, Any]) -> None:
    assert outcome(lean_json.dumps, value, **form) == outcome(json.dumps, value, **form)


def test_json_that_contains_itself_is_refused_alike() -> None:
    members: list[object] = []
    members.append(members)
    for indent in (None, 2):
        with pytest.raises((ValueError, RecursionError)):
            lean_json.dumps(members, indent=indent)


@given(
    st.one_of(
        VALUES.map(lambda value: outcome(json.dumps, value)).map(str),
        st.text(),
        st.text('[]{}",:0123456789.eE+-\\u \t\r\ntrufalsn'),
    ),
    st.sampled_from(["", " ", "\n", "\x0b", "\ufeff", "{"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32-le", "latin-1"]),
)
@example("NaN", "", "utf-8")
@example('{"a": 1, "a": 2}', " ", "utf-8")
@example('"\\ud800"', "", "utf-8")
def test_json_is_decoded_alike(text: str, around: str, encoding: str) -> None:
    text = around + text + around
    assert outcome(lean_json.loads, text) == outcome(json.loads, text)
    data = text.encode(encoding, "replace")
    assert outcome(lean_json.loads, data) == outcome(json.loads, data)
    with contextlib.suppress(UnicodeEncodeError):
        data = text.encode(errors="surrogatepass") + b"\xff" * len(around)
        assert outcome(lean_json.loads, data) == outcome(json.loads, data)


DAMAGED = (b"{", b"[", b"", b'"a', b"\xff", b"{} {}", b'{"a" 1}', b"[1,]", b"\xff\xfe[")


def test_damaged_json_is_refused_where_json_was_not_imported() -> None:
    """The parser in C takes the class of its errors from there."""
    program = (
        "import sys\n"
        "from wc_core.base.lean import json\n"
        "for data in {data!r}:\n"
        "    sys.modules.pop('json', None); sys.modules.pop('json.decoder', None)\n"
        "    try: json.loads(data)\n"
        "    except ValueError: continue\n"
        "    sys.exit(repr(data))\n"
    )
    words = [sys.executable, "-c", program.format(data=DAMAGED)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_pattern_is_compiled_when_it_is_used() -> None:
    pattern = lean_re.compile("(a)b", lean_re.IGNORECASE)
    assert pattern.sub(r"\1", "xAB") == "xA"
    assert pattern.pattern == "(a)b"
    assert lean_re.sub("a", "b", "aa") == "bb"
    assert lean_re.escape("a.b") == re.escape("a.b")


@pytest.mark.parametrize("module", [functools, lean_functools])
def test_a_function_is_cached(module: Any) -> None:
    calls = []

    def count(number: int) -> int:
        """Twice as much."""
        calls.append(number)
        return 2 * number

    double = module.lru_cache(2)(count)
    assert [double(1), double(1), double(2), double(3), double(1)] == [2, 2, 4, 6, 2]
    assert calls == [1, 2, 3, 1]
    assert tuple(double.cache_info()) == (1, 4, 2, 2)
    assert (double.__name__, double.__doc__) == ("count", "Twice as much.")
    double.cache_clear()
    assert module.cache(list)() == []
    assert module.partial(int, base=2)("11") == 3


@pytest.mark.parametrize("module", [functools, lean_functools])
def test_an_attribute_is_computed_once(module: Any) -> None:
    class Counter:
        calls = 0

        @module.cached_property  # type: ignore[untyped-decorator]
        def value(self) -> int:
            """How often it was computed."""
            self.calls += 1
            return self.calls

    counter, other = Counter(), Counter()
    assert [counter.value, counter.value, other.value] == [1, 1, 1]
    del counter.value
    assert counter.value == 2
    counter.value = 7
    assert counter.value == 7
    assert isinstance(Counter.value, module.cached_property)
    assert Counter.value.__doc__ == "How often it was computed."


@given(st.binary(max_size=200), st.sampled_from(["sha1", "sha256"]))
def test_bytes_are_hashed_alike(data: bytes, algorithm: str) -> None:
    digest = hashlib.new(algorithm, data).hexdigest()
    ours = lean_hashlib.new(algorithm, data, usedforsecurity=False)
    assert ours.hexdigest() == digest


class _OwnError(ValueError):
    pass


ERRORS = (None, ValueError, _OwnError, KeyError, StopIteration, KeyboardInterrupt)


def _raise(error: type[BaseException] | None) -> None:
    if error is not None:
        raise error


@pytest.mark.parametrize("raised", ERRORS)
@pytest.mark.parametrize("suppressed", [(), (ValueError,), (KeyError, ValueError)])
def test_errors_are_suppressed_alike(raised: Any, suppressed: Any) -> None:
    def run(module: Any) -> type[BaseException] | None:
        try:
            with module.suppress(*suppressed):
                _raise(raised)
        except BaseException as error:  # noqa: BLE001 - compared
            return type(error)
        return None

    assert run(lean_contextlib) == run(contextlib)


def _plain(events: list[str]) -> Iterator[int]:
    events.append("before")
    yield 1
    events.append("after")


def _careful(events: list[str]) -> Iterator[int]:
    try:
        yield 1
    finally:
        events.append("finally")


def _catching(events: list[str]) -> Iterator[int]:
    try:
        yield 1
    except Exception as error:  # noqa: BLE001 - compared
        events.append(repr(error))


def _replacing(_: list[str]) -> Iterator[int]:
    try:
        yield 1
    except BaseException as error:
        raise LookupError from error


def _silent(_: list[str]) -> Iterator[int]:
    yield from ()


def _twice(_: list[str]) -> Iterator[int]:
    with contextlib.suppress(BaseException):
        yield 1
    yield 2


def _stopping(_: list[str]) -> Iterator[int]:
    try:
        yield 1
    except Exception:  # noqa: BLE001 - compared
        return


GENERATORS = (_plain, _careful, _catching, _replacing, _silent, _twice, _stopping)


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("raised", ERRORS)
def test_a_generator_becomes_a_context_alike(generator: Any, raised: Any) -> None:
    def run(module: Any) -> object:
        events: list[str] = []
        error = None
        context = module.contextmanager(generator)
        assert context.__name__ == generator.__name__
        try:
            with context(events) as value:
                events.append(repr(value))
                _raise(raised)
        except BaseException as caught:  # noqa: BLE001 - compared
            error = caught
        cause = error.__cause__ if error is not None else None
        return events, type(error), str(error), type(cause)

    assert run(lean_contextlib) == run(contextlib)


def test_each_says_what_it_gains() -> None:
    names = [module.name for module in pkgutil.iter_modules(lean.__path__)]
    assert len(names) == 8
    for name in names:
        module = importlib.import_module(f"{lean.__name__}.{name}")
        assert "\nGains " in str(module.__doc__), name


@pytest.mark.parametrize("name", sorted({*lean_signal.__all__} - {"signal"}))
def test_signals_are_those_of_the_library(name: str) -> None:
    assert getattr(lean_signal, name) == getattr(signal, name)


def test_a_signal_is_handled_as_with_the_library() -> None:
    received: list[int] = []
    before = lean_signal.signal(
        lean_signal.SIGALRM, lambda number, _: received.append(number)
    )
    try:
        signal.raise_signal(signal.SIGALRM)
    finally:
        lean_signal.signal(lean_signal.SIGALRM, before)
    assert received == [signal.SIGALRM]
    assert signal.getsignal(signal.SIGALRM) == before


@pytest.mark.parametrize("name", lean_sqlite3.__all__)
def test_sqlite_is_the_same_without_its_converters(name: str) -> None:
    assert getattr(lean_sqlite3, name) is getattr(sqlite3, name)


@pytest.mark.parametrize("name", lean_datetime.__all__)
def test_times_are_those_of_the_library(name: str) -> None:
    assert getattr(lean_datetime, name) is getattr(dt, name)
    with pytest.raises(AttributeError, match="MINYEAR"):
        lean_datetime.MINYEAR  # type: ignore[attr-defined] # noqa: B018
