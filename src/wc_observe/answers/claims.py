"""Who edits what, as text and as JSON. Reads git's files without running git."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.attention.status.balls import Balls, folders_of
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import Layout
from wc_core.base.text import one_line
from wc_core.base.times import ago, seconds_between, span
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import book as books
from wc_core.edits.claims import held, history, ids, verdicts
from wc_core.edits.claims.book import Book
from wc_core.edits.claims.upstreams import upstream_of
from wc_core.edits.claims.verdicts import Situation
from wc_core.edits.graph import kept
from wc_core.ledger.git import config, freshness
from wc_core.ledger.git.freshness import Freshness
from wc_core.ledger.git.repository import resolve
from wc_core.ledger.threads import vocabulary
from wc_core.reading.views.claimball import ball_elsewhere
from wc_core.reading.views.conflicts import hot_targets, load_conflicts
from wc_observe.answers.quoting import clean_json, word
from wc_observe.callers.open_store import open_store, without_folders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.edits.claims.verdicts import Judgement
    from wc_core.ledger.git.repository import Repository
    from wc_observe.callers.calls import Call
    from wc_observe.callers.open_store import OpenStore

_MANY = 200
_MAX_TARGETS = 100
_NO_FOLDER = "/dev/null"


class ClaimsView(NamedTuple):
    """The claims in the caller's repository. Outside git there are none."""

    opened: OpenStore
    repository: Repository | None
    book: Book


def claims_view(call: Call) -> ClaimsView:
    """Read the claims in the caller's repository."""
    return read_claims(open_store(call))


def read_claims(opened: OpenStore) -> ClaimsView:
    """Read the claims in the repository that a store belongs to."""
    repository = opened.place.repository
    if repository is None:
        return ClaimsView(opened, None, Book())
    index = books.load_index(Layout(opened.place.root))
    book = books.read(repository.common, index, books.no_commits)
    return ClaimsView(opened, repository, book)


def claims_json(view: ClaimsView) -> dict[str, Any]:
    """Every claim, as JSON."""
    viewer, book = view.opened.viewer, view.book
    claims = [
        book.fields(claim, own=viewer.is_me(claim.holder))
        for claim in book.claims[:_MANY]
    ]
    fields = {
        "store": view.opened.label,
        "claims": claims,
        "total": len(book.claims),
        "unreadable": len(book.unread),
    }
    return dict(clean_json(fields))


def claims_markdown(view: ClaimsView, now_ms: int) -> str:
    """One line per claim."""
    book = view.book
    lines = []
    for claim in book.claims[:_MANY]:
        standing = book.standing(claim)
        seconds = book.seconds_left(claim)
        remaining = f"{span(seconds)} left" if seconds else "due for renewal"
        facts = [
            f"{word(claim.id, 200)} ({claim.mode})",
            word(claim.holder, 250),
            ago(seconds_between(claim.at * 1000, now_ms)),
            remaining if standing == books.HELD else standing,
            *([f"thread {word(claim.thread)}"] if claim.thread else []),
            *([f"branch {word(claim.branch)}"] if claim.branch else []),
            *([word(claim.note, 200)] if claim.note else []),
        ]
        lines.append(f"- {' · '.join(facts)}")
    if len(book.claims) > _MANY:
        lines.append(f"- {len(book.claims) - _MANY} more")
    if book.unread:
        lines.append(f"- {len(book.unread)} refs that cannot be read here: wc claims")
    return "\n".join(lines or ["Nothing is claimed."]) + "\n"


def judgement(
    call: Call, symbols: Sequence[str], agent_head: str, branch: str
) -> Judgement:
    """The verdict on editing the ``symbols`` now. Raises InvalidInputError for a symbol
    that is not the id of a claim, and for an invalid branch name."""
    if not 0 < len(symbols) <= _MAX_TARGETS:
        raise InvalidInputError(
            f"symbols takes 1 to {_MAX_TARGETS} targets.", "Name what you will edit."
        )
    view = claims_view(call)
    targets = tuple(target_of(view.repository, text) for text in symbols)
    viewer, layout = view.opened.viewer, Layout(view.opened.place.root)
    balls = Balls(view.opened.reader, viewer.directory).held(folders_of(viewer))
    situation = Situation(
        targets=targets,
        book=view.book,
        is_mine=viewer.is_me,
        threads=tuple(ball.topic for ball in balls if ball.topic),
        ball=ball_elsewhere(view.opened.reader, viewer, view.book, targets),
    )
    if view.repository is not None:
        conflicts = load_conflicts(layout, view.repository, call.now_ms())
        latest = freshness.load(layout) or Freshness()
        head = agent_head.strip() or view.repository.commit
        upstream = upstream_of(view.repository, call.env, vocabulary.branch(branch))
        tracking = upstream.tracking if upstream is not None else ""
        # As of the last fetch; empty if there was none.
        remote_head = resolve(view.repository, tracking) if tracking else ""
        situation = situation._replace(
            lost=_lost(view, view.repository),
            hot=hot_targets(conflicts, targets),
            graph=kept.load(layout, view.repository.worktree_id),
            graph_head=view.repository.commit,
            neighbor=view.opened.settings.neighbor,
            head=head,
            remote_head=remote_head,
            behind=_is_behind(view.repository, remote_head, head),
            outdated=without_folders(latest.outdated(call.now_ms()), call),
        )
    return verdicts.judge(situation)


def _lost(view: ClaimsView, repository: Repository) -> tuple[str, ...]:
    """The claims that the caller lost in this worktree."""
    viewer, layout = view.opened.viewer, Layout(view.opened.place.root)
    memory = held.load(layout, held.file_name(repository.worktree_id, viewer.key))
    own = {claim.id for claim in view.book.claims if viewer.is_me(claim.holder)}
    return tuple(memory.lost(own)) if memory is not None else ()


def target_of(repository: Repository | None, text: str) -> ids.ClaimId:
    """The id of a path from the top of the worktree, with or without a symbol, as ``wc
    check`` computes it. In a repository without a worktree it reads no folder. Raises
    InvalidInputError."""
    top = repository.top if repository is not None else ""
    ignore_case = config.is_true(config.get("core.ignorecase", repository, {}))
    try:
        return ids.canonical(
            text.strip(), top or _NO_FOLDER, top or _NO_FOLDER, ignore_case=ignore_case
        )
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{one_line(text, 80)!r} is not a PATH or PATH::SYMBOL of this worktree.",
            "Write paths from the top of the worktree: src/auth.py::Login",
        ) from error


def _is_behind(repository: Repository, remote_head: str, head: str) -> bool | None:
    """Whether a commit lacks the remote's commits; ``None`` if only git could tell."""
    if not remote_head or remote_head == head:
        return False
    if history.is_ancestor(repository.common, remote_head, head):
        return False
    return True if history.is_ancestor(repository.common, head, remote_head) else None


def judgement_markdown(result: Judgement) -> str:
    """The verdict and its reasons, one per line."""
    words = [f"**{result.verdict}**", result.lock_status]
    words += [result.status] if result.status == verdicts.OFFLINE else []
    lines = [" · ".join(words)]
    lines += [f"- {item.code}: {word(item.text, 300)}" for item in result.shown_reasons]
    if result.command:
        lines.append(f"- next: {word(result.command, 300)}")
    if result.verdict == verdicts.SWITCH_TASK and result.switch_to:
        topics = ", ".join(map(word, result.switch_to))
        lines.append(f"- you have the ball of: {topics}")
    return "\n".join(lines) + "\n"


def judgement_json(result: Judgement) -> dict[str, Any]:
    """The verdict, as JSON."""
    return dict(clean_json(result.to_json()))
