"""Marks threads as read without showing them."""

from __future__ import annotations

from wc_cli.commands.reading.paging import topic_list
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader


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
