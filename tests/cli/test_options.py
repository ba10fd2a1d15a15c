"""The two parsers of one declaration: what the fast one takes, Typer takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from tests.core.strategies import relaxed
from wc_cli.run import app, table
from wc_cli.run.options import (
    FLAG,
    NUMBER,
    POSITION,
    REQUIRED,
    Options,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = [*table.COMMANDS, *table.ALIASES]


class Heard:
    """The Typer application of a command, that only listens."""

    def __init__(self, name: str) -> None:
        declared = table.load(name)
        assert declared is not None
        self.options = declared.options
        self.said: list[Options] = []
        application = app.build(declared.options, self.said.append, lambda: None)
        self.command = get_command(application)

    def __call__(self, argv: Sequence[str]) -> Options | None:
        """What Typer makes of ``argv``; ``None`` where it refuses."""
        self.said.clear()
        try:
            self.command.main([*argv], "wc", standalone_mode=False)
        except (typer.TyperException, app.ArgumentsError):
            return None
        return self.said[0] if self.said else None


HEARD = {name: Heard(name) for name in NAMES}

_VALUES = st.sampled_from(
    [
        *("auth", "x y", "", "-", "--", "-1", "7", "007", "٣", "1_0", " 4", "9" * 30),
        *("--json", "-x", "@f", "a=b", "=", "--title", "-h1", "é", "\udcff", "a\nb"),
    ]
)


def argvs(name: str) -> st.SearchStrategy[list[str]]:
    """Command lines that have a good chance to mean something."""
    params = HEARD[name].options.params()
    flags = [one for one in params if one.flags]
    pieces = [_VALUES.map(lambda value: [value])]
    for param in flags:
        flag = param.flags[-1] if len(pieces) % 2 else param.flags[0]
        if param.kind == FLAG:
            pieces.append(st.just([flag]))
        else:
            ranges = {NUMBER: st.integers(0, 99), POSITION: st.integers(-99, 99)}
            numbers = ranges.get(param.kind)
            values = _VALUES
            if numbers is not None:
                values = st.one_of(numbers.map(str), _VALUES)
            pieces.append(st.tuples(st.just(flag), values).map(list))
            long = param.flags[0]
            pieces.append(values.map(f"{long}={{}}".format).map(lambda one: [one]))
        pieces.append(st.just([flag]))
    several = st.lists(st.one_of(pieces), max_size=6)
    usual = [one.flags[0] for one in flags if one.default is REQUIRED]
    begun = st.sampled_from([[], [p for f in usual for p in (f, "v")]])
    words = st.tuples(begun, several)
    return words.map(
        lambda pair: [*pair[0], *(one for part in pair[1] for one in part)]
    )


ARGVS = {name: argvs(name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
@relaxed
@given(data=st.data())
def test_what_the_fast_parser_takes_typer_takes_alike(
    name: str, data: st.DataObject
) -> None:
    argv = data.draw(ARGVS[name])
    fast = parse(HEARD[name].options, argv)
    if fast is not None:
        assert HEARD[name](argv) == fast


USUAL = [
    ("say", ["auth", "--title", "x"]),
    ("say", ["--title=x", "auth", "--body", "-", "--json", "--to", "Claude Code"]),
    ("say", ["auth", "--title", "--", "--body", "--json"]),
    ("say", ["-m", "x", "-m", "-y", "-b", "z"]),
    ("set-status", ["BLOCKED"]),
    ("ack", ["auth"]),
    ("say", ["auth"]),
    ("set-status", ["auth", "CLOSED", "--reason", "done"]),
    ("set_status", ["auth", "CLOSED"]),
    ("handoff", ["auth", "--to", "x", "--force"]),
    ("list", ["--open", "--mine", "--limit", "3"]),
    ("read", ["auth", "--from", "-10"]),
    ("read", ["auth", "--from=-1", "--limit", "3"]),
    ("search", ["a", "b", "--limit=2"]),
    ("search", ["--", "-x"]),
    ("read", ["auth", "--from", "2", "--new", "--peek"]),
    ("version", []),
    ("help", ["say"]),
]


@pytest.mark.parametrize(("name", "argv"), USUAL)
def test_an_ordinary_command_line_needs_no_typer(name: str, argv: list[str]) -> None:
    fast = parse(HEARD[name].options, argv)
    assert fast is not None
    assert HEARD[name](argv) == fast


UNUSUAL = [
    ("say", ["auth", "-tx"]),
    ("say", ["auth", "-t=x"]),
    ("say", ["auth", "--title"]),
    ("say", ["auth", "--title", "x", "more"]),
    ("say", ["auth", "two", "words"]),
    ("ask", ["auth", "Codex", "Which", "one?"]),
    ("say", ["auth", "--title", "x", "--json=1"]),
    ("say", ["auth", "--title", "x", "--help"]),
    ("say", ["-h"]),
    ("list", ["--limit", "x"]),
    ("list", ["--limit", "9" * 5000]),
    ("list", ["--lim", "1"]),
    ("move", ["auth"]),
]


@pytest.mark.parametrize(("name", "argv"), UNUSUAL)
def test_the_rest_is_left_to_typer(name: str, argv: list[str]) -> None:
    assert parse(HEARD[name].options, argv) is None


@pytest.mark.parametrize("name", table.COMMANDS)
def test_every_word_of_a_command_is_explained(name: str) -> None:
    options = HEARD[name].options
    assert options.__doc__
    assert options.__doc__.endswith(".")
    for param in options.params():
        assert param.help.endswith("."), param.name
        assert len(param.help) < 80
        assert param.kind == FLAG or param.metavar
    flags = [flag for param in options.params() for flag in param.flags]
    assert len(flags) == len(set(flags))


@pytest.mark.parametrize("name", table.COMMANDS)
def test_each_declaration_says_what_its_command_does(name: str) -> None:
    declared = table.load(name)
    assert declared is not None
    assert declared.run.__doc__


def test_options_are_values() -> None:
    one, same = (parse(HEARD["ack"].options, ["auth"]) for _ in range(2))
    other = parse(HEARD["ack"].options, ["other"])
    assert one == same != other
    assert "topic='auth'" in repr(one)


# What is left over goes to the options that may be given without their flags.
BARE = [
    ("say", ["auth", "two words"], {"topic": "auth", "message": ("two words",)}),
    ("handoff", ["auth", "Codex"], {"topic": "auth", "to": "Codex", "note": ()}),
    ("handoff", ["auth", "x", "--to", "Codex"], {"to": "Codex", "note": ("x",)}),
    ("ask", ["auth", "Codex", "Why?"], {"to": "Codex", "message": ("Why?",)}),
    ("ask", ["auth", "Why?", "--to=Codex"], {"to": "Codex", "message": ("Why?",)}),
    ("answer", ["auth", "2", "Yes"], {"question": "2", "message": ("Yes",)}),
    ("answer", ["auth", "Yes"], {"question": "", "message": ("Yes",)}),
    ("answer", ["auth", "2 of them"], {"question": "", "message": ("2 of them",)}),
    ("move", ["auth", "main"], {"branch": "main"}),
    ("updates", ["3h"], {"since": "3h"}),
    ("take", ["auth", "why"], {"reason": ("why",)}),
]


@pytest.mark.parametrize(("name", "argv", "values"), BARE)
def test_an_option_may_be_given_without_its_flag(
    name: str, argv: list[str], values: dict[str, object]
) -> None:
    fast = parse(HEARD[name].options, argv)
    assert fast is not None
    assert vars(fast).items() >= values.items()
    assert HEARD[name](argv) == fast


def test_every_option_that_may_be_bare_is_declared() -> None:
    for heard in HEARD.values():
        names = [param.name for param in heard.options.params() if param.flags]
        assert {*heard.options.bare} <= {*names}
