"""What reading commands share: the command line that continues, lists of topics."""

from __future__ import annotations

from wc_cli.run.options import FLAG, TEXTS, WORDS
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_cli.run.context import Context
    from wc_cli.run.options import Options
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.reading.views.spans import ThreadSpan


def command_line(name: str, options: Options, **changed: Any) -> str:
    """Return the command line that continues where this one ended: the same options
    except the ``changed`` ones, quoted for a shell."""
    flags: list[str] = []
    arguments: list[str] = []
    for param in options.params():
        value = changed.get(param.name, getattr(options, param.name))
        if not param.flags:
            arguments += value if param.kind == WORDS else [value]
        elif param.kind == FLAG:
            flags += [param.flags[0]] if value else []
        elif param.kind == TEXTS:
            flags += [word for item in value for word in (param.flags[0], item)]
        elif value != param.default:
            flags += [param.flags[0], str(value)]
    if any(word.startswith("-") for word in arguments):
        flags.append("--")
        arguments, flags = flags, arguments
    # Cleaned first: removing an escape sequence later could remove a quote with it.
    words = [quoted(one_line(word)) for word in (*arguments, *flags)]
    return " ".join(("wc", name, *words))


def topic_list(topics: Iterable[str]) -> str:
    """Return the topics on one line."""
    return ", ".join(one_line(topic) for topic in topics)


def rest_text(options: Options, span: ThreadSpan) -> str:
    """Return how much follows the entries, and the command that shows it; empty if
    nothing does."""
    if not span.left_out_count:
        return ""
    following_command = command_line("read", options, start=span.following)
    return f"{span.left_out_count} more: {following_command}"


def print_marked(context: Context, states: list[State], *, in_json: bool) -> None:
    """Mark threads as read, and print which."""
    if states:  # with nothing to mark, don't create a store
        writer = context.writer()
        for state in states:
            writer.mark_read(state)
    topics = [state.name for state in states]
    if in_json:
        say_json({"store": context.store, "seen": topics})
    else:
        say(f"seen: {topic_list(topics) or 'nothing'}")


def readable_states(reader: StoreReader) -> list[State]:
    """Return the states of the readable threads, and remarks on the others."""
    states = []
    for topic in reader.topics():
        try:
            states.append(reader.snapshot(topic).state)
        except NotFoundError:
            continue  # gone since it was listed, or never started
        except WcError as error:
            remark(one_line(f"not marked as read: {topic}: {error}"))
    return states
