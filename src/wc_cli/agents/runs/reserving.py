"""Reserving a thread between machines: of several that share a remote, one starts its
agent. The claims' compare-and-swap at the remote decides."""

from __future__ import annotations

from wc_cli.edits.claims import travel
from wc_cli.edits.claims.holding import ClaimHolder, Holding
from wc_cli.edits.claims.registry import Registry
from wc_core.base.errors import ConflictError, OfflineError, WcError
from wc_core.base.layout import Layout, file_name
from wc_core.base.lean import contextlib
from wc_core.edits.claims.ids import ClaimId
from wc_core.edits.claims.record import MAX_TTL, MIN_TTL, WRITE, Claim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

# Below a folder that no repository has files in.
_FOLDER = ".watercooler/.runs"
_LOCK_SECONDS = 10.0
# A run is ended before its claim does.
_SPARE_SECONDS = 300


def reserve(at: Context, topic: str, seconds: float) -> None:
    """Claim the run of a thread for an agent, for that many seconds. Without a remote
    that claims are sent to, there is nobody to share it with. Raises ClaimedError, and
    ConflictError if the remote cannot be asked."""
    holding = _holding(at, is_alone=True)
    if holding is None:
        return
    ttl = int(min(MAX_TTL, max(MIN_TTL, seconds + _SPARE_SECONDS)))
    note = "wc run starts its agent"
    try:
        holding.claim([_target(topic)], Claim("", WRITE, "", note=note, ttl_s=ttl))
    except OfflineError as error:
        raise ConflictError(
            f"The remote cannot be asked who else starts {topic}: {error.message}",
            "Try again when it is back.",
        ) from error


def release(at: Context, topic: str) -> None:
    """Give the claim up. A failure is left to the end of its time."""
    with contextlib.suppress(WcError):
        holding = _holding(at, is_alone=False)
        if holding is not None:
            holding.release([_target(topic)])


def _target(topic: str) -> ClaimId:
    return ClaimId(f"{_FOLDER}/{file_name(topic)}")


def _holding(at: Context, *, is_alone: bool) -> Holding | None:
    """Return the agent's claims; ``None`` without a remote for them. ``is_alone``: a
    claim of an agent with the same name on another machine is not its own."""
    repository = at.place.repository
    if repository is None:
        return None
    registry = Registry(repository, Layout(at.place.root), at.env)
    remote = travel.claims_remote(registry, at.settings)
    if remote is None:
        return None
    holder = ClaimHolder.of(at.viewer, repository, "")
    if is_alone:
        holder = holder._replace(is_mine=lambda _: False)
    return Holding(registry, holder, _LOCK_SECONDS, remote)
