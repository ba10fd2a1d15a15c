"""``wc related``: threads that are about the same subject."""

from __future__ import annotations

from wc_cli.commands.common import LocalTopicOptions, SpeakerOptions, fill_topic
from wc_cli.run.options import command, number
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import entrytext
from wc_cli.run.terminal.style import output_style
from wc_core.base.text import one_line
from wc_core.reading.views.search.related import related_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_FEW = 5


class RelatedOptions(LocalTopicOptions, SpeakerOptions):
    """Find threads about the same subject, by the words they share."""

    limit: int = number(
        "--limit", "At most this many (0: all).", default=_FEW, short="-n"
    )


@command(RelatedOptions)
def related(context: Context, options: RelatedOptions) -> None:
    """Find related threads."""
    fill_topic(context, options)
    overview = context.overview
    topic = overview.reader.find(options.topic)
    engine = context.search_engine(overview)
    threads = related_threads(engine, overview, topic, options.limit)
    if options.json:
        fields = {"store": context.store, "topic": options.topic}
        say_json(fields | {"threads": [thread.to_json() for thread in threads]})
        return
    style = output_style(context.env)
    topic_first = f"{one_line(topic)}: " if context.took_local_topic else ""
    if topic_first and threads:
        remark(f"{topic_first}related threads")
    say("\n".join(entrytext.related_text(thread, style) for thread in threads))
    if not threads:
        remark(f"{topic_first}No other thread uses the words of this one.")
