"""Where the text of an entry comes from: the words, a pipe, a file, an editor."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from wc_core.errors import InvalidInputError, NotFoundError
from wc_core.identity import environment
from wc_core.threads import vocabulary

if TYPE_CHECKING:
    from wc_cli.context import Context

# Below this line of the edited file nothing is kept.
_SCISSORS = "# ------------------------ >8 ------------------------"


def body_text(text: str, context: Context) -> str:
    """The body that ``text`` stands for: ``-`` is standard input, ``@FILE`` a
    file, ``@@…`` text that begins with ``@``, all else itself. Only these
    forms ever read anything; for agents they read no file outside of their
    worktree and the folder of temporary files.

    Raises InvalidInputError, NotFoundError.
    """
    if text == "-":
        return vocabulary.body(_decode(sys.stdin.buffer.read(), "Standard input"))
    if text.startswith("@@"):
        return vocabulary.body(text[1:])
    if text.startswith("@"):
        if next(environment.agents_in(context.env), None) is not None:
            _check_reach(text[1:], context)
        return vocabulary.body(_decode(_read_file(text[1:]), text[1:]))
    return vocabulary.body(text)


def _check_reach(path: str, context: Context) -> None:
    """See to it that an agent may take a body from a file: it runs wc without
    asking its user, and what is written may travel. Raises InvalidInputError."""
    import tempfile

    repository = context.place.repository
    folder = repository.top if repository is not None else ""
    real = os.path.realpath(path)
    reach = (folder or context.cwd, tempfile.gettempdir())
    if not any(_is_below(real, os.path.realpath(allowed)) for allowed in reach):
        raise InvalidInputError(
            f"{path!r} is neither in this worktree nor a temporary file, and an "
            "agent's body comes from no others.",
            "Pass the text itself, or on standard input: --body -",
        )


def _is_below(path: str, folder: str) -> bool:
    return os.path.commonpath((path, folder)) == folder


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError as error:
        raise NotFoundError(
            f"There is no file {path!r} to take the body from.",
            "To post text that begins with '@', double it: --body '@@…'",
        ) from error
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"The body cannot be read from {path!r}: {error}.",
            "To post text that begins with '@', double it: --body '@@…'",
        ) from error


def _decode(data: bytes, source: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{source} is not UTF-8 (at byte {error.start}).", "Convert it first."
        ) from error


def body_or_edited(text: str, title: str, context: Context) -> str:
    """The body as `body_text`; a person at a terminal who gave none gets their
    editor. Agents never do: they would hang in it."""
    if text or not _at_terminal() or not context.identity.person:
        return body_text(text, context)
    editor = _editor_command(context)
    return vocabulary.body(_edit(editor, title)) if editor else ""


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _editor_command(context: Context) -> str:
    if context.env.get("TERM", "dumb") == "dumb":
        return ""
    names = ("GIT_EDITOR", "VISUAL", "EDITOR")
    return next((context.env[name] for name in names if context.env.get(name)), "")


def _edit(editor: str, title: str) -> str:
    """What a person leaves in their editor, up to the scissors line."""
    import subprocess
    import tempfile

    hint = f"\n{_SCISSORS}\n# {title}\n# Write the text above; leave it empty for none."
    with tempfile.TemporaryDirectory(prefix="wc-") as folder:
        path = os.path.join(folder, "ENTRY.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{hint}\n")
        # The editor may be words of shell, as for git; the path is not.
        done = subprocess.run(  # noqa: S603
            ["sh", "-c", f'{editor} "$@"', editor, path],  # noqa: S607
            check=False,
        )
        if done.returncode:
            raise InvalidInputError(
                f"The editor ended with {done.returncode}; nothing was written.",
                "Give the text with --body, or run the command again.",
            )
        with open(path, "rb") as file:
            text = _decode(file.read(), "The text")
    return text.partition(_SCISSORS)[0].strip("\n")
