"""The text of an entry, from the command line, a pipe, a file or an editor."""

from __future__ import annotations

import os
import sys

from wc_cli.output import remark
from wc_core.errors import InvalidInputError, NotFoundError
from wc_core.git import config
from wc_core.identity import environment
from wc_core.lean.contextlib import contextmanager
from wc_core.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.context import Context
    from wc_core.threads.proposals import Draft


def body_text(text: str, context: Context) -> str:
    """Returns the body that ``text`` stands for: ``-`` is standard input, ``@FILE`` a
    file, ``@@…`` text that begins with ``@``, anything else the text itself.

    Only the first two read anything. For agents, ``@FILE`` reads no file outside their
    worktree and the folder of temporary files. Raises InvalidInputError, NotFoundError.
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
    """Raise InvalidInputError unless an agent may take a body from the file. Agents run
    wc without asking their user, and entries may be pushed to a remote."""
    import tempfile  # 5 ms, only for @FILE from an agent

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


@contextmanager
def entry_text(
    context: Context, draft: Draft, text: str, *, edit: bool, before: str = ""
) -> Iterator[Draft]:
    """Give the block ``draft`` with its title checked, and the body that ``text``
    stands for (see `body_text`).

    A person at a terminal who gave no text writes both in their editor, which starts
    with the text ``before`` or the title, unless ``edit`` is off; agents never do,
    because they would hang in it. If the block fails, what they wrote is kept in a
    file, whose path is printed. Raises InvalidInputError without a title.
    """
    editor = ""
    if edit and not text and _at_terminal() and context.identity.person:
        editor = _editor_command(context)
    if not editor:
        yield _checked(draft, body_text(text, context))
        return
    from wc_cli.entries import editor as editors  # 8 ms, only for an editor

    around = editors.thread_context(context.reader, draft.action, draft.topic)
    edited = editors.edited_text(editor, before or draft.title, around)
    try:
        yield _checked(draft._replace(title=edited.title), edited.body)
    except BaseException:
        remark(f"note: what you wrote is kept in {edited.path}")
        raise
    edited.discard()


def _checked(draft: Draft, body: str) -> Draft:
    if not draft.title:
        command = f"wc {draft.action} {draft.topic} --title '…'"
        raise InvalidInputError(
            "No title was given.",
            f"Say it in one line: {command} (see: wc help {draft.action})",
        )
    return draft._replace(
        title=vocabulary.title(draft.title), body=vocabulary.body(body)
    )


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _editor_command(context: Context) -> str:
    """Returns the editor that git would open; empty if none is configured, or the
    terminal cannot show one."""
    env = context.env
    if env.get("TERM", "dumb") == "dumb":
        return ""
    return (
        env.get("GIT_EDITOR")
        or config.get("core.editor", context.place.repository, env)
        or env.get("VISUAL")
        or env.get("EDITOR")
        or ""
    )
