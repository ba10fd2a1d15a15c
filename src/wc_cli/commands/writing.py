"""The commands that write an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.commands import body, receipts
from wc_cli.commands.words import Conditions
from wc_cli.options import REQUIRED, Options, argument, command, flag, text
from wc_core.threads import vocabulary
from wc_core.threads.moves import Draft

if TYPE_CHECKING:
    from wc_cli.context import Context


class EntryOptions(Conditions):
    """What an entry consists of."""

    body: str = text(
        "--body", "TEXT", "The text; '-' reads standard input, '@FILE' a file."
    )
    role: str = text("--role", "ROLE", "Your role in this.", complete="role")
    type: str = text("--type", "TYPE", "What kind of entry it is.", complete="type")


class Passing(Options):
    """Where the ball goes."""

    to: str = text(
        "--to", "NAME", "Pass the ball there (or: anyone, me).", complete="agent"
    )
    force: bool = flag("--force", help="Pass it to a name nobody knows yet.")


class Say(Passing, EntryOptions):
    """Add an entry and pass the ball."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    title: str = text("--title", "TITLE", "One line that says it.", default=REQUIRED)
    status: str = text("--status", "STATUS", "Change the status.", complete="status")
    reopen: bool = flag("--reopen", help="Reopen a closed thread.")
    new: bool = flag("--new", help="Start a thread though a like-named one exists.")


class New(Passing, EntryOptions):
    """Create a thread; you hold its ball unless you pass it."""

    topic: str = argument("TOPIC", "The thread's name.")
    title: str = text("--title", "TITLE", "What it is about.", default=REQUIRED)
    status: str = text("--status", "STATUS", "Its status.", complete="status")


class Ack(EntryOptions):
    """Add a remark; the ball stays where it is."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    title: str = text("--title", "TITLE", "One line that says it.", default="Ack")


class Handoff(Passing, Conditions):
    """Pass the ball explicitly."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    note: str = text("--note", "TEXT", "What the next one should know.")
    reason: str = text("--reason", "TEXT", "Why, if somebody else holds the ball.")


class Take(Conditions):
    """Take a ball that is free, or with a reason one that is stuck."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    reason: str = text("--reason", "TEXT", "Why, if somebody else holds it.")


class SetStatus(Conditions):
    """Change the status; closing a thread frees its ball."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    status: str = argument(
        "STATUS", "OPEN, IN_REVIEW, BLOCKED or CLOSED.", complete="status"
    )
    reason: str = text("--reason", "TEXT", "Why.")


@command(Say)
def say(context: Context, said: Say) -> None:
    """Add an entry and pass the ball."""
    draft = _entry("say", context, said)
    _write(context, said, draft._replace(reopen=said.reopen, new=said.new))


@command(New)
def new(context: Context, said: New) -> None:
    """Create a thread."""
    _write(context, said, _entry("new", context, said))


def _entry(action: str, context: Context, said: Say | New) -> Draft:
    return Draft(
        said.topic,
        action,
        vocabulary.title(said.title),
        body=body.given_or_edited(said.body, said.title, context),
        role=vocabulary.role(said.role),
        type=vocabulary.entry_type(said.type),
        to=said.to,
        status=vocabulary.status(said.status),
        force=said.force,
    )


@command(Ack)
def ack(context: Context, said: Ack) -> None:
    """Add a remark."""
    draft = Draft(
        said.topic,
        "ack",
        vocabulary.title(said.title),
        body=body.given(said.body, context),
        role=vocabulary.role(said.role),
        type=vocabulary.entry_type(said.type),
    )
    _write(context, said, draft)


@command(Handoff)
def handoff(context: Context, said: Handoff) -> None:
    """Pass the ball."""
    title = f"Handoff to {said.to}" if said.to else "Handoff"
    draft = Draft(said.topic, "handoff", vocabulary.title(title))
    note = body.given(said.note, context)
    reason = vocabulary.reason(said.reason)
    draft = draft._replace(body=note, reason=reason, to=said.to, force=said.force)
    _write(context, said, draft)


@command(Take)
def take(context: Context, said: Take) -> None:
    """Take the ball."""
    reason = vocabulary.reason(said.reason)
    _write(context, said, Draft(said.topic, "take", "Took the ball", reason=reason))


@command(SetStatus)
def set_status(context: Context, said: SetStatus) -> None:
    """Change the status."""
    status = vocabulary.status(said.status)
    reason = vocabulary.reason(said.reason)
    title = f"Status: {status}"
    draft = Draft(said.topic, "set_status", title, status=status, reason=reason)
    _write(context, said, draft)


def _write(context: Context, said: Conditions, draft: Draft) -> None:
    """Write the entry, start what follows, print the receipt."""
    seconds = vocabulary.seconds(said.lock_timeout)
    draft = draft._replace(
        to=vocabulary.name(draft.to),
        key=vocabulary.key(said.key),
        if_ball=said.if_ball,
        if_last=said.if_last,
    )
    writer = context.writer()
    receipt = writer.write(draft, context.source, seconds)
    receipt = receipts.settled(context, receipt, sync=said.sync)
    receipts.show(receipt, as_json=said.json)
