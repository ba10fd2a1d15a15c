"""The options that many commands have."""

from __future__ import annotations

from wc_cli.options import Options, argument, flag, text
from wc_core.errors import InvalidInputError
from wc_core.layout import nearest_slug
from wc_core.phrases import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context


class SpeakerOptions(Options):
    """The speaker, and the form of the answer."""

    as_name: str = text("--as", "NAME", "Speak as this agent or person.")
    seat: str = text("--seat", "SEAT", "Speak from this seat (a linked worktree).")
    json: bool = flag("--json", help="Answer in JSON.")


class WriteOptions(SpeakerOptions):
    """The conditions of a write, and the key that makes a retry safe."""

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
    """The thread, which may be left out: see `fill_topic`."""

    topic: str = argument(
        "TOPIC",
        "The thread; if left out, the one at the prompt of this worktree.",
        default=None,
        complete="topic",
    )


def fill_topic(context: Context, options: LocalTopicOptions) -> None:
    """Fill in the topic of this worktree's only open thread if none was given.

    Raises what `localtopic.local_topic` raises, and InvalidInputError for a text in the
    place of the topic: nobody means it to begin a thread.
    """
    # An empty topic is a variable that was not set.
    if options.topic is not None:
        written = options.topic.strip()
        if " " in written and hasattr(options, "message"):
            raise InvalidInputError(
                f"{written!r} is a text, not a topic.",
                f'Try "{nearest_slug(written)}", or for the thread of this worktree: '
                f"-m {quoted(written)}",
            )
        return
    from wc_cli.entries import localtopic  # 3 ms, only without a topic

    options.topic = localtopic.local_topic(context)
    context.took_local_topic = True
