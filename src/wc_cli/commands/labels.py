"""The commands that label a thread: rename and tag."""

from __future__ import annotations

from wc_cli.commands.common import WriteOptions
from wc_cli.commands.writing import write_entry
from wc_cli.run.options import argument, changes, command
from wc_cli.run.output import remark, say, say_json
from wc_core.base.layout import new_topic
from wc_core.base.text import one_line
from wc_core.ledger.threads import tags
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_TITLE_TAGS = 12


class RenameOptions(WriteOptions):
    """Rename a thread; its earlier names keep working."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    name: str = argument("NEW", "Its new name.")


class TagOptions(WriteOptions):
    """Add tags to a thread, or remove some; without any, show its tags."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    tags: tuple[str, ...] = changes(
        "TAG...", "TAG or +TAG adds it, -TAG removes it.", default=()
    )


@command(RenameOptions)
def rename(context: Context, options: RenameOptions) -> None:
    """Rename a thread."""
    name = new_topic(options.name)
    draft = Draft(options.topic, "rename", f"Renamed to {name}", new_topic=name)
    write_entry(context, options, draft)


@command(TagOptions)
def tag(context: Context, options: TagOptions) -> None:
    """Add and remove tags, or show them."""
    if not options.tags:
        _show_tags(context, options)
        return
    added, removed = tags.parse_changes(options.tags)
    words = [*(f"+{word}" for word in added), *(f"-{word}" for word in removed)]
    hidden = (
        [f"and {len(words) - _TITLE_TAGS} more"] if len(words) > _TITLE_TAGS else []
    )
    title = " ".join(("Tags:", *words[:_TITLE_TAGS], *hidden))
    draft = Draft(options.topic, "tag", title, tags_added=added, tags_removed=removed)
    write_entry(context, options, draft)


def _show_tags(context: Context, options: TagOptions) -> None:
    snapshot = context.reader.snapshot(context.reader.find(options.topic))
    name = one_line(snapshot.name)
    if options.json:
        fields = {"store": context.store, "topic": snapshot.name}
        say_json({**fields, "tags": list(snapshot.tags)})
        return
    say(one_line(" ".join(f"+{word}" for word in snapshot.tags)))
    if not snapshot.tags:
        remark(f"{name} has no tags. Add one: wc tag {name} TAG")
