"""The text of an entry, from the command line, a pipe, a file or an editor."""

from __future__ import annotations

import os
import sys

from wc_cli.run.output import remark
from wc_core.base.errors import FindingsError, InvalidInputError, NotFoundError
from wc_core.base.layout import nearest_slug
from wc_core.base.lean.contextlib import contextmanager
from wc_core.base.phrases import quoted
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO, Protocol

    from wc_cli.run.context import Context

    class HasMessage(Protocol):
        """The options of a command with a title and a text."""

        title: str
        message: tuple[str, ...]
        from_file: str

        @property
        def body(self) -> str | None:
            """The text; ``None`` to keep the current one."""

    from wc_core.ledger.threads.proposals import Draft


class Message(NamedTuple):
    """The title and the text of an entry."""

    title: str = ""
    body: str = ""


_AT_HINT = "To post text that begins with '@', double it: --body '@@…'"
# For options and arguments that only take a file.
FILE_HINT = "Name a file, or '-' for standard input."


def body_text(text: str, context: Context, hint: str = _AT_HINT) -> str:
    """Return the body that ``text`` stands for: ``-`` is standard input, ``@FILE`` a
    file, ``@@…`` text that begins with ``@``, and anything else the text itself.

    Only the first two read anything; ``hint`` says what to do if a file cannot be read.
    For agents, ``@FILE`` reads no file outside their
    worktree and the folder of temporary files. Raises InvalidInputError, NotFoundError.
    """
    if text == "-":
        data = read_limited(
            sys.stdin.buffer, "Standard input", vocabulary.MAX_BODY_BYTES
        )
        return vocabulary.body(_decode(data, "Standard input"))
    if text.startswith("@@"):
        return vocabulary.body(text[1:])
    if text.startswith("@"):
        if context.process_agent:
            _check_reach(text[1:], context)
        return vocabulary.body(_decode(_read_file(text[1:], hint), text[1:]))
    return vocabulary.body(text)


def paragraphs(texts: Sequence[str], context: Context) -> str:
    """Returns the body that several texts make, a paragraph each; see `body_text`."""
    return "\n\n".join(body_text(text, context) for text in texts)


def _check_reach(path: str, context: Context) -> None:
    """Raise InvalidInputError unless an agent may read a body from the file. Agents run
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


def _read_file(path: str, hint: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return read_limited(file, path, vocabulary.MAX_BODY_BYTES)
    except FileNotFoundError as error:
        raise NotFoundError(
            f"There is no file {path!r} to take the text from.", hint
        ) from error
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"The text cannot be read from {path!r}: {error}.", hint
        ) from error


def read_limited(file: IO[bytes], source: str, most: int) -> bytes:
    """Return the content of a file of at most ``most`` bytes, which another program may
    be writing without end. Raises InvalidInputError if there is more."""
    data = file.read(most + 1)
    if len(data) > most:
        raise InvalidInputError(
            f"{source} has more than {most:,} bytes. Nothing was written.",
            "Put a long text into the code's repository, and name the file here.",
        )
    return data


def _decode(data: bytes, source: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{source} is not UTF-8 (at byte {error.start}).", "Convert it first."
        ) from error


def message(context: Context, options: HasMessage, default_title: str = "") -> Message:
    """Return the title and the text from a command's options. As in git, the first
    ``-m``, or the first line of ``-F``, is the title.

    Raises InvalidInputError if two options conflict, and as `body_text` does.
    """
    title = options.title
    if options.from_file:
        _check_alone("-F", {"-m": options.message, "--body": options.body})
        source = options.from_file
        place = source if source == "-" else f"@{source}"
        text = body_text(place, context, FILE_HINT)
        return Message(title, text) if title else _split_message(text)
    if not options.message:
        return Message(title or default_title, body_text(options.body or "", context))
    _check_alone("-m", {"--title": title})
    first, *paragraphs = options.message
    if not options.body:
        return _split_message("\n\n".join((first, *paragraphs)))
    _check_alone("--body", {"a second -m": paragraphs})
    return Message(first, body_text(options.body, context))


def _split_message(text: str) -> Message:
    """Split off the first line of a text as the title."""
    first, _, body_text = text.lstrip().partition("\n")
    return Message(first.strip(), body_text.strip("\r\n"))


def _check_alone(option: str, alternatives: Mapping[str, object]) -> None:
    for alternative, value in alternatives.items():
        if value:
            raise InvalidInputError(
                f"{option} and {alternative} exclude each other.", "Use one of them."
            )


@contextmanager
def entry_text(
    context: Context,
    draft: Draft,
    *,
    edit: bool | None,
    before: str = "",
    command: str = "",
) -> Iterator[Draft]:
    """Run the block with ``draft``, its title and its body checked.

    A person at a terminal who gave neither writes both in their editor, which starts
    with the text ``before`` or the draft's. ``edit`` always opens it, or never, if it
    is off. ``command`` is the one to name in errors, if it is not called as the draft's
    action. It never opens for agents, because they would hang in it. If the entry would
    be refused whatever its text is, it does not open either. If the block fails, the
    edited text is kept in a file, whose path is printed. Raises InvalidInputError
    without a title.
    """
    editor = ""
    is_wanted = edit if edit is not None else not (draft.title or draft.body)
    if is_wanted and _at_terminal() and context.is_person:
        editor = _editor_command(context)
    if edit and not editor:
        raise InvalidInputError(
            "There is no editor here: -e is for a person at a terminal, with EDITOR or "
            "git's core.editor set.",
            f"Give the text: wc {command or draft.action} {quoted(draft.topic)} -m '…'",
        )
    if not editor:
        yield _checked(draft, command)
        return
    if context.place.exists:
        to = vocabulary.name(draft.to)
        context.writer_of(draft).check_move(draft._replace(to=to))
    from wc_cli.run.entries import editor as editors  # 8 ms, only for an editor

    around = editors.thread_context(
        context.reader, command or draft.action, draft.topic
    )
    written = f"{draft.title}\n\n{draft.body}".rstrip("\n")
    edited = editors.edited_text(editor, before or written, around)
    try:
        yield _checked(draft._replace(title=edited.title, body=edited.body), command)
    except FindingsError:
        edited.discard()  # it is saved
        raise
    except BaseException:
        remark(f"note: what you wrote is kept in {edited.path}")
        raise
    edited.discard()


def _checked(draft: Draft, command: str) -> Draft:
    if not draft.title:
        name = command or draft.action
        raise InvalidInputError("No title was given.", _title_hint(draft, name))
    return draft._replace(
        title=vocabulary.title(draft.title), body=vocabulary.body(draft.body)
    )


def _title_hint(draft: Draft, command: str) -> str:
    """Return the command that gives an entry its title."""
    if command == "new" and len(draft.topic.split()) > 1:
        topic = quoted(nearest_slug(draft.topic))
        return f"Name the thread, too: wc new {topic} -m {quoted(draft.topic)}"
    topic = quoted(draft.topic) if draft.topic.strip() else "TOPIC"
    to = f" --to {quoted(draft.to)}" if draft.to else ""
    return (
        f"Say it in one line: wc {command} {topic}{to} -m '…' (see: wc help {command})"
    )


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _editor_command(context: Context) -> str:
    """Return the editor that git would open; empty if none is configured, or the
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
