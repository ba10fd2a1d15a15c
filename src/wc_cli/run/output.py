"""Prints the output of commands: results on standard output, remarks on standard error.

Standard error is cleaned of everything a terminal would obey, because it may quote
other people's text.
"""

from __future__ import annotations

import os
import sys

from wc_core.base.errors import StorageError
from wc_core.base.lean import json
from wc_core.base.text import clean
from wc_core.ledger.threads.jsontext import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO


class Answer:
    """The answer of the running command, and additions from elsewhere.

    ``beside`` returns the fields to add to the first JSON that is printed; it is
    ``None`` afterwards. ``begun``: something was printed. ``color``: see
    `chosen_color`.
    """

    def __init__(self, beside: Callable[[], dict[str, Any]] | None = None) -> None:
        self.begun = False
        self.color: bool | None = None
        self.beside = beside

    def with_fields(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return JSON with the fields, unless they were added before."""
        beside, self.beside = self.beside, None
        return {**value, **beside()} if beside is not None else value


_answers = [Answer()]


def begin_answer(answer: Answer) -> None:
    """Make this the current answer, to which all output belongs."""
    _answers[0] = answer


def chosen_color() -> bool | None:
    """Return what ``--color`` says: always or never; ``None`` for neither."""
    return _answers[0].color


def say(text: str) -> None:
    """Print a result to standard output, on a terminal wrapped at words. Raises
    StorageError, BrokenPipeError."""
    say_exact(_fitted(text, sys.stdout))


def say_exact(text: str) -> None:
    """Print a result that is fitted already, or for programs, as it is. Raises as `say`
    does."""
    _write_output(f"{text}\n" if text and not text.endswith("\n") else text)


def say_json(value: dict[str, Any]) -> None:
    """Print a result for programs: one line of JSON. Raises as `say` does."""
    _write_output(f"{json_line(_answers[0].with_fields(value))}\n")


class ProgressLine:
    """Says on a terminal, after a second, what a command is doing: on one line of
    standard error, which is cleared when it has nothing more to do."""

    def __init__(self) -> None:
        self._text = ""
        self._stop: Callable[[], None] | None = None

    def note(self, text: str) -> None:
        """Say what is being done now; an empty text for nothing."""
        self._text = text
        if text and self._stop is None and sys.stderr.isatty():
            self._stop = self._started()
        elif not text and self._stop is not None:
            self._stop()
            self._stop = None

    def _started(self) -> Callable[[], None]:
        """Begin to show what is done. Returns what ends that."""
        import threading  # 2 ms, only for what may take long

        ended = threading.Event()

        def show() -> None:
            pause = 1.0
            while not ended.wait(pause):
                sys.stderr.write(f"\r\x1b[K{clean(self._text)} …")
                sys.stderr.flush()
                pause = 0.2
            if pause < 1:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()

        thread = threading.Thread(target=show, daemon=True)
        thread.start()

        def stop() -> None:
            ended.set()
            thread.join()

        return stop


def remark(text: str) -> None:
    """Print a remark to standard error, on a terminal wrapped at words."""
    try:
        sys.stderr.write(f"{_fitted(clean(text), sys.stderr)}\n")
        sys.stderr.flush()
    except OSError:
        return  # nobody reads it


def _fitted(text: str, stream: TextIO) -> str:
    """Return a text as it is written to a stream: wrapped, if that is a terminal."""
    if not stream.isatty():
        return text
    from wc_cli.run.widths import columns_of, wrapped  # 0.5 ms, only on a terminal

    return wrapped(text, columns_of(stream))


def json_line(value: Any) -> str:
    """Return ``value`` as one line of JSON. Everything that `wc_core.base.text.clean`
    would remove is escaped: the values are the same, and a terminal obeys nothing."""
    # A path may contain bytes that are not text; JSON may not.
    line = dumps(value).encode(errors="replace").decode()
    if clean(line) == line:
        return line
    return "".join(
        character if clean(character) == character else json.dumps(character)[1:-1]
        for character in line
    )


def discard_output() -> None:
    """Redirect standard output to the null device if its reader is gone or its disk is
    full. Otherwise the interpreter's last flush would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_output(text: str) -> None:
    _answers[0].begun = True
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise StorageError(
            f"Standard output could not be written: {error.strerror}.",
            "The store is as it was; run it again with room for the answer.",
        ) from error
