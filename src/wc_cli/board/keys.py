"""What the keys of ``wc board --write`` do: they run the commands."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, NamedTuple

from wc_cli import main
from wc_core.phrases import quoted
from wc_core.text import one_line

if TYPE_CHECKING:
    from wc_cli.context import Context


class Field(NamedTuple):
    """Something a command is asked for: the words of the question, and the
    option it is given with; empty for an argument."""

    question: str
    option: str = ""
    default: str = ""


# The commands by their keys' names, and what they are asked for.
COMMANDS: dict[str, tuple[str, Field]] = {
    "ack": ("ack", Field("A remark; the ball stays", "--title", "Ack")),
    "handoff": (
        "handoff",
        Field("Pass the ball to (nothing: whose turn it is)", "--to"),
    ),
    "take": ("take", Field("Why, if somebody else holds it", "--reason")),
    "status": ("set-status", Field("OPEN, IN_REVIEW, BLOCKED or CLOSED")),
    "seen": ("seen", Field("")),
}


class Writing:
    """Runs commands as whoever looks at the board."""

    def __init__(self, context: Context) -> None:
        asked = context.asked
        self._who = (
            *(("--as", asked.name) if asked.name else ()),
            *(("--seat", asked.seat) if asked.seat else ()),
        )

    def words(self, name: str, topic: str, said: str) -> list[str]:
        """The words of a command on a thread, with what was answered."""
        command, field = COMMANDS[name]
        words = [command, *self._who]
        if said and field.option:
            words.append(f"{field.option}={said}")
        words += ["--", topic]
        return [*words, said] if said and not field.option else words

    def shown(self, words: list[str]) -> str:
        """The command line as somebody would type it."""
        return " ".join(("wc", *(quoted(one_line(one)) for one in words)))

    def run(self, words: list[str]) -> str:
        """Carry it out; the receipt, or what was refused and why."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main.run(words)
        return out.getvalue().strip()
