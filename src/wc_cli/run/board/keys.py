"""The keys of ``wc board --write``, which run commands."""

from __future__ import annotations

import contextlib
import io

from wc_cli.run import main
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import BLOCKED, CLOSED, IN_REVIEW, OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context


class Field(NamedTuple):
    """A command's argument: the question, and the option for the answer.

    The option is empty if the answer is a positional argument. With ``choices``, a
    letter answers. If the command ``edits``, the editor asks for the text.
    """

    question: str = ""
    option: str = ""
    default: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    edits: bool = False


_STATUS_LETTERS = (("o", OPEN), ("r", IN_REVIEW), ("b", BLOCKED), ("c", CLOSED))
# The commands by the names of their keys, with their arguments.
COMMANDS: dict[str, tuple[str, Field]] = {
    "say": ("say", Field(edits=True)),
    "new": (
        "new",
        Field("The topic of a new thread; the editor asks for the rest", edits=True),
    ),
    "ack": ("ack", Field("A remark; the ball stays", "--title", "Ack")),
    "handoff": (
        "handoff",
        Field("Pass the ball to (empty: whose turn it is)", "--to"),
    ),
    "done": ("done", Field("Done: the ball goes to whoever asked", "--title", "Done")),
    "take": ("take", Field("Why, if someone else has it", "--reason")),
    "status": ("set-status", Field("The new status", choices=_STATUS_LETTERS)),
    "seen": ("seen", Field()),
}


def edits(command: str) -> bool:
    """Whether the command opens the editor, where leaving without saving cancels it."""
    return command in {name for name, field in COMMANDS.values() if field.edits}


def needs_confirmation(name: str, answer: str) -> bool:
    """Whether a command is confirmed before it runs: all but those that take two keys
    and are easily reverted, and those that the editor can cancel."""
    field = COMMANDS[name][1]
    return not field.edits and (not field.choices or answer == CLOSED)


class CommandRunner:
    """Runs commands as the viewer of the board."""

    def __init__(self, context: Context) -> None:
        requested = context.asked
        self._speaker_options = (
            *(("--as", requested.name) if requested.name else ()),
            *(("--seat", requested.seat) if requested.seat else ()),
        )

    def arguments(self, name: str, topic: str, answer: str) -> list[str]:
        """The arguments of a command on a thread, with the user's answer. For a new
        thread, the answer is the topic."""
        command, field = COMMANDS[name]
        words = [command, *self._speaker_options]
        if field.edits:
            return [*words, "--edit", "--", topic or answer]
        if answer and field.option:
            words.append(f"{field.option}={answer}")
        words += ["--", topic]
        return [*words, answer] if answer and not field.option else words

    def command_line(self, words: list[str]) -> str:
        """The command line as a user would type it."""
        return " ".join(("wc", *(quoted(one_line(word)) for word in words)))

    def run(self, words: list[str]) -> str:
        """Run the command. Returns its output: the receipt, or the error."""
        return _output_of(words, io.StringIO())

    def run_at_terminal(self, words: list[str]) -> str:
        """Run a command that opens the editor, which gets the terminal. Returns its
        output, as `run` does."""
        return _output_of(words, _TerminalOutput())


class _TerminalOutput(io.StringIO):
    """Collects the output of a command that may open the editor, because it is at a
    terminal."""

    def isatty(self) -> bool:
        """Whether the underlying file, which the editor inherits, is a terminal."""
        return True


def _output_of(words: list[str], out: io.StringIO) -> str:
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        main.run(words)
    return out.getvalue().strip()
