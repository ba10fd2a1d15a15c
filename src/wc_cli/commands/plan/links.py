"""``wc link`` and ``wc unlink``: relations between threads."""

from __future__ import annotations

from wc_cli.commands.common import WriteOptions
from wc_cli.commands.writing import write_entry
from wc_cli.ledger.plan import batch, linking
from wc_cli.run.entries.body import FILE_HINT, body_text
from wc_cli.run.options import command, text, words
from wc_cli.run.output import say
from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import one_line
from wc_core.ledger.planning import kinds
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import Link
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    import contextlib
    from collections.abc import Sequence

    from wc_cli.ledger.plan.linking import ThreadLinks
    from wc_cli.run.context import Context

_EXAMPLE = "Write, for example: wc link ui waits-for api"
_LEAST_WORDS = 3


class LinkOptions(WriteOptions):
    """Link a thread to another one: wc link B waits-for A."""

    words: tuple[str, ...] = words(
        "B VERB A",
        "VERB: waits-for, blocks, part-of, sidequest-of, relates-to.",
        default=(),
    )
    file: str = text(
        "--from", "FILE", "Many links, one per line; '-' reads standard input."
    )


class UnlinkOptions(WriteOptions):
    """Remove a link; without a verb, all links from B to A."""

    words: tuple[str, ...] = words("B [VERB] A", "As in wc link.")


@command(LinkOptions)
def link(context: Context, options: LinkOptions) -> None:
    """Link threads."""
    if options.file:
        _link_many(context, options)
        return
    if len(options.words) < _LEAST_WORDS:
        raise InvalidInputError(
            "A link needs two threads and a verb.", _verbs_hint(options.words)
        )
    first, *verb_words, second = options.words
    verb = kinds.verb(verb_words, f"wc link {first}", second)
    owners, targets = ([second], [first]) if verb.is_inverse else ([first], [second])
    _link(context, options, _names(owners), verb.kind, _names(targets))


def _verbs_hint(typed: Sequence[str]) -> str:
    """What to write, with the two threads that were named, if they are two."""
    if len(typed) != _LEAST_WORDS - 1:
        return _EXAMPLE
    first, second = map(quoted, typed)
    return (
        f"If one waits for the other: wc link {first} waits-for {second}; "
        f"otherwise: wc link {first} relates-to {second}"
    )


def _link_many(context: Context, options: LinkOptions) -> None:
    """Write all links of a file, or none."""
    if options.words:
        raise InvalidInputError(
            "Links come from --from or from the arguments, not both.",
            "Use one of them.",
        )
    file = options.file if options.file == "-" else f"@{options.file}"
    links = batch.parse(body_text(file, context, FILE_HINT))
    with _locked(context, options):
        plan = context.overview.plan()
        changes = batch.additions(context.reader, plan, links)
        for change in changes:
            _write(context, options, change, "link")
    if not options.json:
        count = sum(len(change.links) for change in changes)
        present = len(links) - count
        skipped = f", {present} already present" if present else ""
        say(f"{counted(count, 'link')}{skipped}")


@command(UnlinkOptions)
def unlink(context: Context, options: UnlinkOptions) -> None:
    """Remove links."""
    if len(options.words) < _LEAST_WORDS - 1:
        raise InvalidInputError(
            "Two threads are needed.", "Write, for example: wc unlink ui api"
        )
    first, *verb_words, second = options.words
    verb = kinds.verb(verb_words, f"wc unlink {first}", second) if verb_words else None
    owner, target = (second, first) if verb and verb.is_inverse else (first, second)
    with _locked(context, options):
        for change in linking.removals(
            context.reader, [owner], verb.kind if verb else "", _names([target])
        ):
            _write(context, options, change, "unlink")


def _link(
    context: Context,
    options: WriteOptions,
    owners: Sequence[str],
    kind: str,
    targets: Sequence[str],
) -> None:
    with _locked(context, options):
        for change in linking.additions(context.reader, owners, kind, targets):
            _write(context, options, change, "link")


def _locked(
    context: Context, options: WriteOptions
) -> contextlib.AbstractContextManager[None]:
    """The lock that linking takes, for a ``with`` block."""
    context.writer().prepare_store()
    seconds = vocabulary.seconds(options.lock_timeout or "2")
    return linking.locked(context.reader.layout, context.identity.author, seconds)


def _write(
    context: Context, options: WriteOptions, change: ThreadLinks, action: str
) -> None:
    """Write an entry with a thread's links, and print how they were understood."""
    sentences = "; ".join(change.sentences)
    title = sentences if action == "link" else f"No more: {sentences}"
    links = tuple(Link(item.kind, item.topic) for item in change.links)
    draft = Draft(change.topic, action, _short(title))
    if action == "link":
        draft = draft._replace(links_added=links)
    else:
        draft = draft._replace(links_removed=links)
    write_entry(context, options, draft)
    if not options.json:
        say(one_line(title))


def _short(title: str) -> str:
    """A title, cut to the allowed length."""
    most = vocabulary.MAX_TITLE_BYTES
    if len(title.encode()) <= most:
        return title
    return title.encode()[: most - 3].decode(errors="ignore") + "…"


def _names(typed: Sequence[str]) -> list[str]:
    """The threads that were typed, possibly as A,B."""
    names = [name for item in typed for name in item.split(",") if name]
    if not names:
        raise InvalidInputError(f"{quoted(','.join(typed))} names no thread.", _EXAMPLE)
    return list(dict.fromkeys(names))
