"""What needs the caller in all stores of this machine, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.identity.resolve import Asked
from wc_core.inbox.stores import known_stores
from wc_core.inbox.view import Inbox, InboxEntry, InboxOwner, inbox
from wc_core.phrases import counted
from wc_core.text import command_line, defused
from wc_core.times import age_text, seconds_between
from wc_observe.answers.quoting import clean_json, title, word
from wc_observe.answers.schema import BOOLEAN, INTEGER, LIST, answer_schema

if TYPE_CHECKING:
    from wc_observe.calls import Call

_WIDE = 200
_TITLE_WIDTH = 60

INBOX_SCHEMA = answer_schema(
    {
        "items": LIST,
        "total": INTEGER,
        "truncated": BOOLEAN,
        "repositories": LIST,
        "unreadable": LIST,
    }
)


def caller_inbox(call: Call, limit: int) -> Inbox:
    """Returns the caller's inbox. A person's own preferences do not count: they are
    about what the person is shown."""
    owner = InboxOwner(call.env, Asked(client=call.client))
    return inbox(known_stores(call.folder, call.env), owner, call.now_ms(), limit)


def inbox_json(answer: Inbox) -> dict[str, Any]:
    """Returns the inbox shape."""
    return dict(clean_json(answer.to_json()))


def inbox_markdown(answer: Inbox, now_ms: int) -> str:
    """Returns a line for each item, with the command that answers it."""
    stores = counted(len(answer.counts), "repository", "repositories")
    if not answer.total:
        lines = [f"Nothing needs you in {stores}."]
    else:
        hidden = f"{len(answer.entries)} of " if answer.more else ""
        items = counted(answer.total, "item")
        lines = [f"{hidden}{items} in {stores}, by kind, the longest waiting first"]
    lines += [_item_line(entry, now_ms) for entry in answer.entries]
    lines += [
        f"not read: {word(store.name, _WIDE)}: {word(store.problem, _WIDE)}"
        for store in answer.unreadable
    ]
    return "\n".join(lines) + "\n"


def _item_line(entry: InboxEntry, now_ms: int) -> str:
    item = entry.item
    facts = [
        f"{word(entry.store.name, _WIDE)}: {word(item.topic, _WIDE)}",
        title(item.title, _TITLE_WIDTH),
        *([f"from {word(item.by)}"] if item.by else []),
    ]
    if item.since_ms is not None:
        facts.append(age_text(seconds_between(item.since_ms, now_ms)))
    kind = item.kind.replace("_", " ")
    command = defused(command_line(entry.command))
    return f"- {kind}, {', '.join(facts)}; answer: {command}"
