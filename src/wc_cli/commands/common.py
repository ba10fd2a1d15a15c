"""The options that many commands have."""

from __future__ import annotations

from wc_cli.run.options import Options, argument, flag, text
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import nearest_slug
from wc_core.base.phrases import quoted
from wc_core.ledger.git.discovery import PLAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_NO_THREADS = "No threads here. Start one with: wc new TOPIC -m '…'"


def no_threads_text(context: Context) -> str:
    """Return what lists and charts of an empty store say."""
    if not context.place.exists and context.place.kind == PLAIN:
        return _NO_REPOSITORY
    return context.unasked or _NO_THREADS


_NO_REPOSITORY = (
    "There is no git repository here, and there are no threads in this folder. Change "
    "to a repository, or start a thread in this folder: wc new TOPIC -m '…'"
)
# The options with the text of an entry.
TEXTS = ("message", "title", "body", "from_file")
_LEAST_WORDS = 2


class LockOptions(Options):
    """How long to wait for another process that writes."""

    group = "Options of careful writers"

    lock_timeout: str = text(
        "--lock-timeout",
        "SECONDS",
        "Wait this long for another writer (default: 2, for settings 10).",
    )


class WriteOptions(LockOptions):
    """The conditions of a write, and the key that makes it safe to retry."""

    group = LockOptions.group

    key: str = text("--key", "KEY", "Write at most once under this key.")
    if_ball: str = text(
        "--if-ball",
        "NAME",
        "Only if this name has the ball (or: me, anyone).",
        complete="agent",
    )
    if_last: str = text(
        "--if-last", "ENTRY", "Only if this is the last entry: its number or id."
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


class AddressedOptions(LocalTopicOptions):
    """A thread, and a participant ``to``, whose name and a text may be given without
    flags."""

    to: str

    def took_name(self, context: Context) -> bool:
        """If a participant's name was given instead of a topic, take it as ``to``, and
        what was taken for that as the text. Returns whether it was."""
        name, text = self.topic, self.bare[-1]
        is_text = "to" in self.taken_bare
        if not name or (is_text and getattr(self, text)) or (self.to and not is_text):
            return False
        if not context.place.exists or context.reader.lookup(name) is not None:
            return False
        if not context.writer().knows(name):
            return False
        if is_text:
            setattr(self, text, (self.to,))
        self.to = name
        return True


def fill_topic(context: Context, options: LocalTopicOptions) -> None:
    """Fill in the topic of this worktree's only open thread if none was given. A text
    of several words instead of a topic is the entry's, unless it has one.

    Raises what `localtopic.local_topic` raises, and InvalidInputError if the text may
    be meant as a topic.
    """
    if lacks_topic(context, options):
        use_local_topic(context, options)
    _check_is_no_topic(context, options)


def _check_is_no_topic(context: Context, options: LocalTopicOptions) -> None:
    """Raise InvalidInputError if the text is only the name of another thread, without a
    flag: many who type two topics mean both."""
    for name in {*options.taken_bare} & {"message", "note", "reason"}:
        word = getattr(options, name)[0]
        if len(word.split()) > 1 or not context.place.exists:
            continue
        if word and context.reader.lookup(word, trusting=True) is not None:
            raise InvalidInputError(
                f"{word!r} is a thread, too, and a command writes to one thread.",
                f"If it is the text: -m {quoted(word)}",
            )


def lacks_topic(context: Context, options: LocalTopicOptions) -> bool:
    """Return whether no topic was given, but perhaps a participant's name or a text,
    which is taken as such. Raises InvalidInputError as `fill_topic` does."""
    # An empty topic is a variable that was not set.
    if options.topic is None:
        return True
    if isinstance(options, AddressedOptions) and options.took_name(context):
        return True
    return _took_text(context, options)


def use_local_topic(context: Context, options: LocalTopicOptions) -> None:
    """Fill in the topic of this worktree's only open thread. Raises what
    `localtopic.local_topic` raises."""
    from wc_cli.run.entries import localtopic  # 3 ms, only without a topic

    options.topic = localtopic.local_topic(context)
    context.took_local_topic = True


def _took_text(context: Context, options: LocalTopicOptions) -> bool:
    """Take a text of several words in the place of the topic as the entry's. Returns
    whether it is one."""
    written = options.topic.strip()
    if len(written.split()) < _LEAST_WORDS or not hasattr(options, "message"):
        return False
    has_text = any(getattr(options, name) for name in TEXTS)
    if has_text or context.reader.lookup(written) is not None:
        raise InvalidInputError(
            f"{written!r} is text, not a topic.",
            f'Try "{nearest_slug(written)}", or for the thread of this worktree: '
            f"-m {quoted(written)}",
        )
    options.message = (written,)
    return True
