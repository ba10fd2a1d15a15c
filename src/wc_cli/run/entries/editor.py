"""The title and the text of an entry from a person's editor, like git's commit
messages."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager

from wc_cli.ledger.clock import now_ms
from wc_core.base.errors import (
    CancelledError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from wc_core.base.layout import new_topic
from wc_core.base.programs import absolute_path
from wc_core.base.text import clean, one_line
from wc_core.base.times import ago_and_local, milliseconds
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import revisions
from wc_core.ledger.threads.model import ball_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import StoreReader, Thread

# Everything from this line on is discarded.
SCISSORS = "# ------------------------ >8 ------------------------"
_ADVICE = """\
# Everything from the line above on is ignored.
# The first line is the title. The text follows after an empty line.
# To write nothing, leave the editor without saving, or save an empty file.
"""
# The exit status of a program ended by ^C: from the kernel, and from a shell.
_INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)
_NOT_FOUND = 127  # from a shell
_STARTING = ("new", "say")  # these start a thread that does not exist
_LAST_ENTRIES = 3
_BODY_LINES = 30
_FILE = "ENTRY.md"


class EditedText(NamedTuple):
    """What a person wrote, and the file that keeps it until the entry is saved."""

    title: str
    body: str
    path: str

    def discard(self) -> None:
        """Remove the file."""
        shutil.rmtree(os.path.dirname(self.path), ignore_errors=True)


def edited_text(editor: str, title: str, context: str) -> EditedText:
    """Open ``editor`` on ``title``, with ``context`` below the scissors line. Returns
    the edited text.

    Raises CancelledError if the file was not saved, or is empty; InvalidInputError if
    the editor fails or the text is not UTF-8.
    """
    folder = tempfile.mkdtemp(prefix="wc-")
    edited = EditedText("", "", os.path.join(folder, _FILE))
    try:
        text = _edit(editor, edited.path, f"{title}\n\n{SCISSORS}\n{_ADVICE}{context}")
    except BaseException:
        edited.discard()
        raise
    first, _, rest = text.lstrip().partition("\n")
    return edited._replace(title=first.strip(), body=rest.strip("\r\n"))


def _edit(editor: str, path: str, template: str) -> str:
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(template)
    # A time long ago, so that saving the same text is noticed.
    os.utime(path, (1, 1))
    before = _stamp(path)
    status = _run(editor, path)
    if status in _INTERRUPTED:
        raise CancelledError("Nothing was written.", "The editor was interrupted.")
    if status == _NOT_FOUND:
        raise InvalidInputError(
            f"The editor {editor!r} was not found; nothing was written.",
            "Set EDITOR to one that is installed, or give the text with -m.",
        )
    if status:
        raise InvalidInputError(
            f"The editor ended with {status}; nothing was written.",
            "Give the text with -m, or run the command again.",
        )
    if _stamp(path) == before:
        raise CancelledError("Nothing was written.", "The editor saved no text.")
    text = _text_above_scissors(path)
    if not text.strip():
        raise CancelledError("Nothing was written.", "The text is empty.")
    return text


def _stamp(path: str) -> tuple[int, int, int]:
    """Return a stamp that changes when an editor saves the file, in place or as a new
    one."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return (0, 0, 0)
    return (status.st_ino, status.st_mtime_ns, status.st_size)


def _run(editor: str, path: str) -> int:
    """Run the editor. Returns its exit status."""
    # The editor may be several words for the shell, as in git. The path is one. ^C is a
    # key of the editor, which has the terminal: it must not end the shell or this
    # process.
    process = subprocess.Popen(  # noqa: S603
        ["/bin/sh", "-c", f'trap : INT QUIT; {editor} "$@"', editor, path],
        env={**os.environ, "PATH": absolute_path(os.environ)},
    )
    with _ignored(signal.SIGINT), _ignored(signal.SIGQUIT):
        return process.wait()


@contextmanager
def _ignored(number: signal.Signals) -> Iterator[None]:
    previous = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, previous)


def _text_above_scissors(path: str) -> str:
    """Return the text up to the scissors line; empty if the file was removed."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"The text is not UTF-8 (at byte {error.start}); nothing was written.",
            "Save it as UTF-8.",
        ) from error
    kept: list[str] = []
    for line in text.split("\n"):
        if line.rstrip() == SCISSORS:
            break
        kept.append(line)
    return "\n".join(kept)


def thread_context(reader: StoreReader, command: str, topic: str) -> str:
    """Return the text below the scissors line: the thread's state and its last entries.

    What can be known to fail fails here, before anything is written: raises
    ConflictError if a new thread is to be started and there already is one,
    NotFoundError if the command needs a thread and there is none, and InvalidInputError
    for what cannot be a topic.
    """
    try:
        thread = reader.thread(reader.find(topic))
    except NotFoundError:
        if command not in _STARTING:
            raise
        return f"#\n# {one_line(new_topic(topic))}: a new thread\n"
    state = thread.state
    if command == "new":
        raise ConflictError(
            f"There is already a thread {state.topic}: {state.title!r}.",
            f"Add to it with: wc say {state.topic}",
        )
    return f"#\n# {_thread_line(thread)}\n\n{_last_entries(thread)}"


def _thread_line(thread: Thread) -> str:
    state = thread.state
    ball = one_line(ball_text(state.status, state.ball))
    facts = f"{one_line(state.status)}, ball: {ball}"
    return f"{one_line(state.topic)}: {one_line(state.title)} ({facts})"


def _last_entries(thread: Thread) -> str:
    visible = revisions.revisions(thread.entries)[-_LAST_ENTRIES:]
    return "\n".join(_entry_text(item.idx, item.entry) for item in visible)


def _entry_text(number: int, entry: Entry) -> str:
    moment_ms = milliseconds(entry.at)
    at = entry.at if moment_ms is None else ago_and_local(moment_ms, now_ms())
    by = one_line(f"#{number} · {entry.agent or '?'} · {at}")
    lines = clean(entry.body).split("\n") if entry.body else []
    shown = [f"    {line}".rstrip() for line in lines[:_BODY_LINES]]
    if len(lines) > _BODY_LINES:
        shown.append(f"    … ({len(lines) - _BODY_LINES} more lines)")
    return "".join(f"{line}\n" for line in (by, one_line(entry.title), *shown))
