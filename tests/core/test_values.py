from __future__ import annotations

import collections
import copy
import inspect
import keyword
import pickle
import types
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.base.values import NamedTuple


class Place(NamedTuple):
    """Where a cell is."""

    row: int
    column: int = 0

    @property
    def is_first(self) -> bool:
        return self == Place(0)

    def below(self) -> Place:
        return self._replace(row=self.row + 1)


def test_a_value_has_fields_defaults_and_methods() -> None:
    place = Place(2)
    assert (place.row, place.column) == (2, 0)
    assert place.below() == Place(row=3)
    assert Place(0).is_first
    assert not place.is_first
    assert repr(place) == "Place(row=2, column=0)"
    assert place._asdict() == {"row": 2, "column": 0}


@pytest.mark.parametrize(
    "words", [(), (1, 2, 3)], ids=["too few values", "too many values"]
)
def test_a_value_has_no_other_fields(words: tuple[int, ...]) -> None:
    with pytest.raises(TypeError):
        Place(*words)
    with pytest.raises(AttributeError):
        Place(1).elsewhere = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        Place(1).row = 1  # type: ignore[misc]


def test_a_value_can_be_pickled_and_has_no_dictionary() -> None:
    assert pickle.loads(pickle.dumps(Place(2, 3))) == Place(2, 3)
    assert not hasattr(Place(2), "__dict__")


NAMES = (
    st.from_regex("[a-z][a-z0-9_]{0,5}", fullmatch=True)
    .filter(lambda name: not keyword.iskeyword(name))
    .filter(lambda name: name not in {"count", "index"})
)
FIELDS = st.lists(NAMES, unique=True, max_size=6)
# More calls than the first ones, after which the constructor is another.
CALLS = 25


@st.composite
def _calls(
    draw: st.DrawFn, fields: list[str]
) -> tuple[tuple[int, ...], dict[str, int]]:
    """Arguments that are right, or lack something, or have too much."""
    positional = draw(st.integers(0, len(fields)))
    names = set(fields[positional:])
    if draw(st.booleans()):
        names ^= draw(st.sets(st.sampled_from([*fields, "other"]), max_size=2))
    extra = draw(st.sampled_from([0, 0, 0, 1]))
    values = tuple(range(positional + extra))
    return values, {name: 100 + len(name) for name in sorted(names)}


@given(st.data())
def test_it_does_what_the_standard_one_does(data: st.DataObject) -> None:
    fields = data.draw(FIELDS)
    required = data.draw(st.integers(0, len(fields)))
    defaults = {name: -number for number, name in enumerate(fields[required:])}
    namespace = {"__annotations__": dict.fromkeys(fields, "int"), "__module__": "m"}
    bases: tuple[typing.Any, ...] = (NamedTuple,)
    body = namespace | defaults
    ours: typing.Any = types.new_class("V", bases, {}, lambda scope: scope.update(body))
    theirs: typing.Any = collections.namedtuple("V", fields)  # type: ignore[misc]  # noqa: PYI024
    theirs.__new__.__defaults__ = tuple(defaults.values())
    theirs.__new__.__annotations__ = dict.fromkeys(fields, "int")
    calls = [data.draw(_calls(fields)) for _ in range(3)]
    for number in range(CALLS):
        values, named = calls[number % len(calls)]
        assert _outcome(ours, values, named) == _outcome(theirs, values, named)
    assert inspect.signature(ours) == inspect.signature(theirs)


def _outcome(
    kind: typing.Any, values: tuple[int, ...], named: dict[str, int]
) -> object:
    """All that can be asked of a value, or that there is none."""
    try:
        value = kind(*values, **named)
    except TypeError:
        return TypeError
    fields = value._asdict()
    assert [getattr(value, name) for name in value._fields] == [*value]
    assert copy.copy(value) == value
    for function in (kind._make, lambda items: value._replace(other=items)):
        with pytest.raises((TypeError, ValueError)):
            function((*value, 1))
    changed = value._replace(**dict.fromkeys(list(fields)[:1], "new"))
    made = kind._make(reversed(value))
    return repr(value), fields, tuple(value), changed, made, hash(value), str(value)
