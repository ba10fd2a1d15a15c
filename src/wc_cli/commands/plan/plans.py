"""``wc plan``: threads, links and checklists from a markdown list."""

from __future__ import annotations

import sys

from wc_cli.commands.common import SpeakerOptions
from wc_cli.ledger.plan import drafting, linking
from wc_cli.run.entries import receipts
from wc_cli.run.entries.body import FILE_HINT, body_text
from wc_cli.run.options import argument, command, flag, text
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import WcError
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import one_line
from wc_core.ledger.planning import kinds, planfile
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from wc_cli.ledger.plan.drafting import Addition
    from wc_cli.ledger.store.writer import StoreWriter
    from wc_cli.run.context import Context


class PlanOptions(SpeakerOptions):
    """Create threads, links and checklists from a markdown list. Shows them first, and
    writes them with --yes or once you confirm."""

    file: str = argument("FILE", "The list; '-' reads standard input.")
    parent: str = text(
        "--parent", "TOPIC", "Make everything part of this thread.", complete="topic"
    )
    yes: bool = flag("--yes", help="Write it without asking.")
    dry_run: bool = flag("--dry-run", help="Only show it.")
    force: bool = flag("--force", help="Allow new names.")
    lock_timeout: str = text(
        "--lock-timeout", "SECONDS", "Wait this long for another writer.", default="2"
    )


@command(PlanOptions)
def plan(context: Context, options: PlanOptions) -> None:
    """Show a plan, and write it."""
    file = options.file if options.file == "-" else f"@{options.file}"
    items = planfile.parse(body_text(file, context, FILE_HINT))
    if options.parent:
        parent = context.reader.find(options.parent)
        items = [
            item if item.parent else item._replace(parent=parent) for item in items
        ]
    additions = drafting.additions(context.reader, context.overview.plan(), items)
    missing = [addition for addition in additions if not addition.is_empty]
    done = [item.topic for item in items if item.is_done]
    if not (options.json or options.yes):
        _show(additions, done)
    is_writing = bool(missing) and _confirmed(options)
    if is_writing:
        missing = _write(context, options, items)
    if options.yes and not options.json:
        _show(missing, done)
    if options.json:
        threads = [_to_json(addition) for addition in missing]
        say_json({"store": context.store, "written": is_writing, "threads": threads})
    elif is_writing:
        say(_counts(missing))
    elif not missing:
        remark("Everything is already there: nothing was written.")
    else:
        remark(
            f"Nothing was written. To write it: wc plan {quoted(options.file)} --yes"
        )


def _confirmed(options: PlanOptions) -> bool:
    """Whether to write the plan. Asks at a terminal."""
    if options.dry_run:
        return False
    if options.yes or options.json or options.file == "-":
        return options.yes
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    sys.stdout.write("Write it? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _write(
    context: Context, options: PlanOptions, items: Sequence[planfile.PlannedItem]
) -> list[Addition]:
    """Write what is missing now, and return it. Checks every thread before writing the
    first."""
    writer = context.writer()
    seconds = vocabulary.seconds(options.lock_timeout)
    layout, author = context.reader.layout, context.identity.author
    with linking.locked(layout, author, seconds):
        overview = context.overview
        additions = [
            addition
            for addition in drafting.additions(overview.reader, overview.plan(), items)
            if not addition.is_empty
        ]
        drafts = [
            (addition, draft._replace(force=options.force))
            for addition in additions
            for draft in addition.drafts()
        ]
        for addition, draft in drafts:
            try:
                writer.check(draft, context.source.now_ms())
            except WcError as error:
                message = f"Line {addition.item.number}: {error.message}"
                hint = f"Nothing was written. {error.hint}"
                raise type(error)(message, hint) from error
        with writer.upkeep.together(author):
            for addition, draft in drafts:
                receipt = writer.write(draft, context.source, seconds)
                _check_off(context, writer, addition, draft, receipt.entry_id)
    for note in receipts.start_settling(context):
        remark(f"note: {one_line(note)}")
    return additions


def _check_off(
    context: Context,
    writer: StoreWriter,
    addition: Addition,
    draft: Draft,
    entry_id: str,
) -> None:
    """Check off those steps of an entry that are already done."""
    done = [
        f"{entry_id}.{position}"
        for position, step in enumerate(draft.items_added, 1)
        if step in addition.done
    ]
    if done:
        title = f"Done: {counted(len(done), 'item')}"
        checked = Draft(addition.topic, "checklist", title, items_checked=tuple(done))
        writer.write(checked, context.source)


def _show(additions: Sequence[Addition], done: Sequence[str]) -> None:
    """Print what would be written, thread by thread."""
    for addition in additions:
        say("\n".join(_lines(addition)))
    if done:
        names = ", ".join(map(one_line, done))
        remark(f"note: left out, because it is done: {names}")


def _lines(addition: Addition) -> Iterator[str]:
    item = addition.item
    mark = "+" if addition.is_new else "=" if addition.is_empty else "~"
    facts = [item.title]
    if addition.is_new:
        facts.append(f"ball: {item.holder or 'anyone'}")
    yield one_line(f"{mark} {addition.topic}: {' · '.join(facts)}")
    for link in addition.links:
        sentence = kinds.sentence(addition.topic, link.kind, link.topic)
        yield f"    {one_line(sentence)}"
    for step in addition.steps:
        yield f"    [{'x' if step in addition.done else ' '}] {one_line(step)}"


def _counts(additions: Sequence[Addition]) -> str:
    """The numbers of things written."""
    threads = sum(addition.is_new for addition in additions)
    links = sum(len(addition.links) for addition in additions)
    steps = sum(len(addition.steps) for addition in additions)
    return (
        f"planned {counted(threads, 'thread')}, {counted(links, 'link')}, "
        f"{counted(steps, 'item')}; see: wc tree, wc ready"
    )


def _to_json(addition: Addition) -> dict[str, Any]:
    """The changes of one thread, as JSON."""
    return {
        "topic": addition.topic,
        "title": addition.item.title,
        "new": addition.is_new,
        "links": [{"kind": link.kind, "topic": link.topic} for link in addition.links],
        "items": list(addition.steps),
    }
