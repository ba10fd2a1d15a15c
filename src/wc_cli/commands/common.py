"""The options that many commands have."""

from __future__ import annotations

from wc_cli.run.options import Options, argument, flag, text
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import nearest_slug
from wc_core.base.phrases import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_NO_THREADS = "No threads here. Start one with: wc new TOPIC -m '…'"


def no_threads_text(context: Context) -> str:
    """Return what lists and charts of an empty store say."""
    return context.unasked or _NO_THREADS


class SpeakerOptions(Options):
    """The speaker, and the format of the answer."""

    as_name: str = text("--as", "NAME", "Speak as this agent or person.")
    seat: str = text("--seat", "SEAT", "Speak from this seat (a linked worktree).")
    json: bool = flag("--json", help="Answer in JSON.")


class WriteOptions(SpeakerOptions):
    """The conditions of a write, and the key that makes it safe to retry."""

    key: str = text("--key", "KEY", "Write at most once under this key.")
    if_ball: str = text(
        "--if-ball",
        "NAME",
        "Only if this name has the ball (or: me, anyone).",
        complete="agent",
    )
    if_last: str = text("--if-last", "ENTRY", "Only if this is the last entry.")
    lock_timeout: str = text(
        "--lock-timeout", "SECONDS", "Wait this long for another writer.", default="2"
    )
    sync: bool = flag("--sync", help="Wait until it is committed and pushed.")


class LocalTopicOptions(Options):
    """The thread, which is optional: see `fill_topic`."""

    topic: str = argument(
        "TOPIC",
        "The thread (default: the one that the prompt shows).",
        default=None,
        complete="topic",
    )


def fill_topic(context: Context, options: LocalTopicOptions) -> None:
    """Fill in the topic of this worktree's only open thread if none was given.

    Raises what `localtopic.local_topic` raises, and InvalidInputError if a text was
    given instead of a topic: it is never meant as the name of a new thread.
    """
    # An empty topic is a variable that was not set.
    if options.topic is not None:
        written = options.topic.strip()
        if " " in written and hasattr(options, "message"):
            raise InvalidInputError(
                f"{written!r} is text, not a topic.",
                f'Try "{nearest_slug(written)}", or for the thread of this worktree: '
                f"-m {quoted(written)}",
            )
        return
    from wc_cli.run.entries import localtopic  # 3 ms, only without a topic

    options.topic = localtopic.local_topic(context)
    context.took_local_topic = True
