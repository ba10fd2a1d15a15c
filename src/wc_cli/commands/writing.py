"""The commands that write an entry."""

from __future__ import annotations

from wc_cli.commands.common import (
    AddressedOptions,
    LocalTopicOptions,
    WriteOptions,
    fill_topic,
)
from wc_cli.run import output
from wc_cli.run.entries import body, receipts
from wc_cli.run.entries.commits import commit_id
from wc_cli.run.entries.paths import repository_path
from wc_cli.run.options import REQUIRED, Options, argument, command, flag, text, texts
from wc_core.base.errors import FindingsError, InvalidInputError
from wc_core.base.phrases import counted
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import (
    APPROVED,
    CHANGES_REQUESTED,
    ENTRY_TYPES,
    ROLES,
    STATUSES,
)
from wc_core.ledger.threads.proposals import Draft
from wc_core.ledger.threads.revisions import BARE_ACK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.ledger.store.lockedthread import Receipt
    from wc_cli.run.context import Context
    from wc_core.ledger.threads.linerefs import LineRef

_APPROVED_TITLE = "Approved"


def _line_ref(written: str, topic: str, context: Context) -> LineRef | None:
    """Return the lines of a file that a text names; ``None`` if it is a path."""
    if ":" not in written:
        return None
    from wc_cli.run.entries import quoting  # 9 ms, only for lines of files

    return quoting.line_ref(written, topic, context)


class ReferenceOptions(Options):
    """The references of an entry."""

    file: tuple[str, ...] = texts(
        "--file", "PATH", "A file it is about, or PATH:LINE; may be repeated."
    )
    pr: tuple[str, ...] = texts(
        "--pr", "N", "A pull request it is about; may be repeated."
    )
    commit: tuple[str, ...] = texts(
        "--commit",
        "ID",
        "A commit it is about, by any name git knows; may be repeated.",
    )
    summary: str = text("--summary", "TEXT", "One-line summary, for overviews.")

    def added_to(self, draft: Draft, context: Context) -> Draft:
        """Return the draft with its references."""
        paths, lines = [], []
        for written in self.file:
            reference = _line_ref(written, draft.topic, context)
            if reference is None:
                paths.append(repository_path(written, context))
            else:
                paths.append(reference.path)
                lines.append(reference)
        return draft._replace(
            file_refs=vocabulary.file_refs(paths),
            line_refs=vocabulary.line_refs(lines),
            pr_refs=vocabulary.pr_refs(self.pr),
            commit_refs=vocabulary.commit_refs(
                commit_id(written, context.place.repository, context.env)
                for written in self.commit
            ),
            summary=vocabulary.summary(self.summary),
        )


_STATUSES = ", ".join(STATUSES)


class MessageOptions(Options):
    """The title and the text of an entry."""

    bare: tuple[str, ...] = ("message",)

    message: tuple[str, ...] = texts(
        "--message",
        "TEXT",
        "The title; each further -m is a paragraph of the text.",
        short="-m",
        excludes=("title", "from_file"),
    )
    from_file: str = text(
        "--message-file",
        "FILE",
        "Read the title (first line) and the text from a file ('-': standard input).",
        short="-F",
    )
    title: str = text("--title", "TITLE", "The title, one line.", short="-t")
    body: str = text(
        "--body",
        "TEXT",
        "The text; '-' reads standard input, '@FILE' a file.",
        short="-b",
    )


class EntryOptions(ReferenceOptions, MessageOptions, WriteOptions):
    """The parts of an entry."""

    role: str = text(
        "--role", "ROLE", f"Your role: {', '.join(ROLES)}.", complete="role"
    )
    type: str = text(
        "--type", "TYPE", f"Its type: {', '.join(ENTRY_TYPES)}.", complete="type"
    )


class EditorOptions(Options):
    """Whether the editor opens. By default it does at a person's terminal, if neither
    title nor text is given."""

    edit: bool = flag("--edit", "-e", help="Open the editor, with the given text.")
    no_edit: bool = flag("--no-edit", help="Never open an editor.")

    @property
    def opens_editor(self) -> bool | None:
        """The requested behaviour; ``None`` by default."""
        return False if self.no_edit else True if self.edit else None


class PassOptions(Options):
    """Where the ball goes."""

    to: str = text(
        "--to",
        "NAME",
        "Pass the ball to this name (or: anyone, asker, me).",
        complete="agent",
    )
    force: bool = flag("--force", help="Allow a new name, and closing with open parts.")


class OutcomeOptions(Options):
    """The outcome of a review."""

    approve: bool = flag("--approve", help="You reviewed it and approve.")
    request_changes: bool = flag(
        "--request-changes", help="You reviewed it; the ball goes back for changes."
    )

    def with_outcome(self, draft: Draft) -> Draft:
        """Return the draft with its outcome, if one was given."""
        if not (self.approve or self.request_changes):
            return draft
        from wc_core.edits.review import outcomes  # 1 ms, for outcomes of reviews

        if self.approve and self.request_changes:
            raise InvalidInputError(
                "--approve and --request-changes exclude each other.",
                "Use one of them.",
            )
        if draft.type not in {"", outcomes.DECISION_TYPE}:
            raise outcomes.wrong_type_error(draft.type)
        outcome = APPROVED if self.approve else CHANGES_REQUESTED
        title = draft.title or (_APPROVED_TITLE if self.approve else "")
        return draft._replace(outcome=outcome, title=title)


class ContributionOptions(
    LocalTopicOptions, PassOptions, EntryOptions, EditorOptions, OutcomeOptions
):
    """An entry that may pass the ball and change the status."""

    status: str = text(
        "--status", "STATUS", f"Change the status: {_STATUSES}.", complete="status"
    )
    reopen: bool = flag("--reopen", help="Reopen a closed thread.")
    tick: tuple[str, ...] = texts(
        "--tick", "N", "Tick box N of the first entry's text; may be repeated."
    )
    reason: str = text(
        "--reason",
        "TEXT",
        "Why you close or reopen it while someone else has the ball.",
    )


class DoneOptions(ContributionOptions):
    """Report the work as done. The ball goes back to whoever asked for it; if that is
    you, the thread is closed."""

    usual = "--message --body --to --status --approve --request-changes --file --edit"


class KindOptions(Options):
    """What kind of remark an entry is."""

    kind: str = text(
        "--kind",
        "KIND",
        "Make it a remark of this kind; the ball stays.",
        complete="kind",
    )
    severity: str = text(
        "--severity", "LEVEL", "How severe it is.", complete="severity"
    )

    answers: str = text("--answers", "N", "The number of the question it answers.")

    def in_kind(self, draft: Draft) -> Draft:
        """Return the draft with its kind, its severity and the question it answers."""
        return draft._replace(
            answers=self.answers,
            kind=vocabulary.kind(self.kind),
            severity=vocabulary.severity(self.severity),
        )


class SayOptions(ContributionOptions, KindOptions):
    """Add an entry and pass the ball."""

    usual = "--message --body --to --kind --file --status --edit"

    new: bool = flag(
        "--new", help="Start a new thread even if a similarly named one exists."
    )


class NewOptions(PassOptions, EntryOptions, EditorOptions):
    """Create a thread; you have its ball unless you pass it."""

    usual = "--message --body --to --blocked-by --type --file --status --edit"

    topic: str = argument("TOPIC", "The thread's name.")
    status: str = text(
        "--status", "STATUS", f"Its status: {_STATUSES}.", complete="status"
    )
    branch: str = text("--branch", "BRANCH", "Its branch (default: the current one).")
    parent: str = text(
        "--parent", "TOPIC", "The thread that it is part of.", complete="topic"
    )
    sidequest_of: str = text(
        "--sidequest-of",
        "TOPIC",
        "The thread that it is a sidequest of.",
        complete="topic",
    )
    blocked_by: tuple[str, ...] = texts(
        "--blocked-by", "TOPIC", "A thread it waits for (or: A,B); may be repeated."
    )


class AckOptions(LocalTopicOptions, EntryOptions, EditorOptions, KindOptions):
    """Add a remark and leave the ball where it is; the default title is "Ack"."""

    usual = "--message --body --kind --answers --type --file --summary --edit"


class HandoffOptions(AddressedOptions, PassOptions, WriteOptions):
    """Pass the ball explicitly."""

    bare = ("to", "note")

    note: tuple[str, ...] = texts(
        "--note",
        "TEXT",
        "What the next holder should know; each further -m is a paragraph.",
        short="-m",
    )
    reason: str = text(
        "--reason", "TEXT", "Why; required if someone else has the ball."
    )


class MoveOptions(WriteOptions):
    """Assign a thread to another branch; ball and status stay."""

    bare = ("branch",)

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    branch: str = text(
        "--branch", "BRANCH", "The branch, which need not exist yet.", default=REQUIRED
    )


class TakeOptions(LocalTopicOptions, WriteOptions):
    """Take a free ball, or a stuck one, giving a reason."""

    bare = ("reason",)

    reason: tuple[str, ...] = texts(
        "--reason", "TEXT", "Why; required if someone else has the ball.", short="-m"
    )


class SetStatusOptions(LocalTopicOptions, PassOptions, WriteOptions):
    """Change the status; --to also passes the ball, and closing frees it. Without a
    topic, changes the thread of this worktree."""

    bare = ("reason",)

    topic: str = argument(
        "TOPIC",
        "The thread (default: the one that the prompt shows).",
        default=None,
        complete="topic or status",
    )
    status: str = argument(
        "STATUS",
        "OPEN, IN_REVIEW, BLOCKED or CLOSED.",
        default=None,
        complete="status",
    )

    def shift_alone(self) -> None:
        """If only one word is given, take it as the status."""
        if self.status is None:
            self.topic, self.status = self.status, self.topic
        vocabulary.required(self.status or "", "status", STATUSES)

    reason: tuple[str, ...] = texts("--reason", "TEXT", "Why.", short="-m")


@command(SayOptions)
def say(context: Context, options: SayOptions) -> None:
    """Add an entry and pass the ball."""
    fill_topic(context, options)
    draft = options.in_kind(_contribution(context, "say", options))
    # Without quotation marks, the first word of a text would become a new thread.
    must_exist = bool(options.taken_bare) and not options.new
    draft = draft._replace(new=options.new, must_exist=must_exist)
    _write_text_entry(context, options, draft)


@command(DoneOptions)
def done(context: Context, options: DoneOptions) -> None:
    """Report the work as done."""
    fill_topic(context, options)
    _write_text_entry(context, options, _contribution(context, "done", options))


@command(NewOptions)
def new(context: Context, options: NewOptions) -> None:
    """Create a thread."""
    draft = _entry_draft(context, "new", options)
    draft = draft._replace(thread_branch=vocabulary.branch(options.branch))
    named = (options.parent, options.sidequest_of, options.blocked_by)
    if any(named):
        from wc_cli.ledger.plan import linking  # 2 ms, only for a thread with links

        links = linking.first_links(context.reader, options.topic, *named)
        draft = draft._replace(links_added=links)
    _write_text_entry(context, options, draft)
    _note_missing_branch(context, draft.thread_branch)


def _contribution(context: Context, action: str, options: ContributionOptions) -> Draft:
    draft = _entry_draft(context, action, options)
    draft = options.with_outcome(draft)
    if options.tick:
        draft = _ticking(context, draft, options.tick)
    reason = vocabulary.reason(options.reason)
    return draft._replace(reopen=options.reopen, reason=reason)


def _ticking(context: Context, draft: Draft, numbers: Sequence[str]) -> Draft:
    """Return the draft with the items that it ticks, which are its title if it has
    none."""
    from wc_core.ledger.planning.checklists import numbered_items  # 1 ms, for ticks

    state = context.reader.snapshot(context.reader.find(draft.topic)).state
    items = list(numbered_items(state, numbers))
    title = draft.title or f"Done: {'; '.join(item.text for item in items)}"
    if len(title.encode()) > vocabulary.MAX_TITLE_BYTES:
        title = f"Done: {counted(len(items), 'item')}"
    ids = tuple(item.id for item in items)
    return draft._replace(title=title, items_checked=ids)


def _entry_draft(
    context: Context, action: str, options: ContributionOptions | NewOptions
) -> Draft:
    message = body.message(context, options)
    return Draft(
        options.topic,
        action,
        message.title,
        body=message.body,
        role=vocabulary.role(options.role),
        type=vocabulary.entry_type(options.type),
        to=options.to,
        status=vocabulary.status(options.status),
        force=options.force,
    )


@command(AckOptions)
def ack(context: Context, options: AckOptions) -> None:
    """Add a remark."""
    fill_topic(context, options)
    message = body.message(context, options)
    draft = Draft(
        options.topic,
        "ack",
        message.title.strip() or ("" if options.edit else BARE_ACK),
        body=message.body,
        role=vocabulary.role(options.role),
        type=vocabulary.entry_type(options.type),
    )
    draft = options.in_kind(options.added_to(draft, context))
    # Without any text it is an "Ack", so the editor opens only on request.
    with body.entry_text(context, draft, edit=options.edit) as complete:
        write_entry(context, options, complete)


@command(HandoffOptions)
def handoff(context: Context, options: HandoffOptions) -> None:
    """Pass the ball."""
    fill_topic(context, options)
    title = f"Handoff to {options.to}" if options.to else "Handoff"
    draft = Draft(options.topic, "handoff", vocabulary.title(title))
    note = body.paragraphs(options.note, context)
    reason = vocabulary.reason(options.reason)
    draft = draft._replace(body=note, reason=reason, to=options.to, force=options.force)
    write_entry(context, options, draft)


@command(MoveOptions)
def move(context: Context, options: MoveOptions) -> None:
    """Move a thread to another branch."""
    branch = vocabulary.required(vocabulary.branch(options.branch), "branch")
    title = vocabulary.title(f"Moved to {branch}")
    draft = Draft(options.topic, "move", title, thread_branch=branch)
    write_entry(context, options, draft)
    _note_missing_branch(context, branch)


def _note_missing_branch(context: Context, branch: str) -> None:
    """Print a note if a thread now belongs to a branch that does not exist here, which
    may be a typo."""
    code = context.place.repository
    if branch and code is not None and not repositories.has_branch(code, branch):
        output.remark(f"note: there is no branch {branch} here yet")


@command(TakeOptions)
def take(context: Context, options: TakeOptions) -> None:
    """Take the ball."""
    fill_topic(context, options)
    reason = vocabulary.reason(" ".join(options.reason))
    write_entry(
        context, options, Draft(options.topic, "take", "Took the ball", reason=reason)
    )


@command(SetStatusOptions)
def set_status(context: Context, options: SetStatusOptions) -> None:
    """Change the status."""
    options.shift_alone()
    fill_topic(context, options)
    status = vocabulary.status(options.status)
    reason = vocabulary.reason(" ".join(options.reason))
    title = f"Status: {status}"
    draft = Draft(options.topic, "set_status", title, status=status, reason=reason)
    draft = draft._replace(to=options.to, force=options.force)
    write_entry(context, options, draft)


def _write_text_entry(
    context: Context, options: ContributionOptions | NewOptions, draft: Draft
) -> None:
    """Write an entry with the text of its options, or from a person's editor."""
    draft = options.added_to(draft, context)
    with body.entry_text(context, draft, edit=options.opens_editor) as complete:
        write_entry(context, options, complete)


def write_entry(context: Context, options: WriteOptions, draft: Draft) -> None:
    """Write the entry, start settling, and print the receipt. Raises FindingsError
    after that if the ball did not go to whom ``--to`` names."""
    receipt = saved_entry(context, options, draft)
    receipts.print_receipt(
        receipt, as_json=options.json, topic_first=context.took_local_topic
    )
    if receipt.not_passed:
        raise FindingsError(
            f"The entry is saved, but {receipt.not_passed}.", receipt.hint
        )


def saved_entry(context: Context, options: WriteOptions, draft: Draft) -> Receipt:
    """Write the entry and start settling. Returns the receipt."""
    seconds = vocabulary.seconds(options.lock_timeout or "2")
    draft = draft._replace(
        to=vocabulary.name(draft.to),
        key=vocabulary.key(options.key),
        if_ball=options.if_ball,
        if_last=options.if_last,
    )
    writer = context.writer_of(draft)
    if draft.outcome == APPROVED:
        from wc_cli.run.entries import approvals  # 9 ms, only for approvals

        receipt = approvals.write_approval(context, writer, draft, seconds)
    else:
        receipt = writer.write(draft, context.source, seconds)
    return receipts.settle_after_write(context, receipt, sync=options.sync)
