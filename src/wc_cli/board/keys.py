"""The keys of ``wc board --write``, which run commands."""

from __future__ import annotations

import contextlib
import io

from wc_cli import main
from wc_core.phrases import quoted
from wc_core.text import one_line
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context


class Field(NamedTuple):
    """What a command asks for: the question, and the option that takes the answer.

    The option is empty if the answer is a positional argument.
    """

    question: str
    option: str = ""
    default: str = ""


# The commands by the names of their keys, and what they ask for.
COMMANDS: dict[str, tuple[str, Field]] = {
    "ack": ("ack", Field("A remark; the ball stays", "--title", "Ack")),
    "handoff": (
        "handoff",
        Field("Pass the ball to (nothing: whose turn it is)", "--to"),
    ),
    "done": ("done", Field("Done: it goes to who asked", "--title", "Done")),
    "take": ("take", Field("Why, if somebody else holds it", "--reason")),
    "status": ("set-status", Field("OPEN, IN_REVIEW, BLOCKED or CLOSED")),
    "seen": ("seen", Field("")),
}


class CommandRunner:
    """Runs commands as the viewer of the board."""

    def __init__(self, context: Context) -> None:
        requested = context.asked
        self._speaker_options = (
            *(("--as", requested.name) if requested.name else ()),
            *(("--seat", requested.seat) if requested.seat else ()),
        )

    def arguments(self, name: str, topic: str, answer: str) -> list[str]:
        """The arguments of a command on a thread, with the user's answer."""
        command, field = COMMANDS[name]
        words = [command, *self._speaker_options]
        if answer and field.option:
            words.append(f"{field.option}={answer}")
        words += ["--", topic]
        return [*words, answer] if answer and not field.option else words

    def command_line(self, words: list[str]) -> str:
        """The command line as a user would type it."""
        return " ".join(("wc", *(quoted(one_line(word)) for word in words)))

    def run(self, words: list[str]) -> str:
        """Run the command. Returns its output: the receipt, or the error."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main.run(words)
        return out.getvalue().strip()
