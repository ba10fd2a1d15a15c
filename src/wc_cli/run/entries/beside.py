"""Exchanges claims with a remote, beside the threads."""

from __future__ import annotations

from wc_cli.edits.claims import travel
from wc_cli.ledger.sync.exchange import LIMIT_SECONDS
from wc_cli.run.entries import losses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.remotes import Remote


def exchange_beside_store(
    root: str, env: Mapping[str, str], remote: Remote, seconds: float = LIMIT_SECONDS
) -> list[str]:
    """Exchange the claims with a remote, right after the store. If someone lost a
    claim, an entry in its thread says so.

    Waits for the remote at most ``seconds``. Returns notes for the user.
    """
    claims = travel.exchange_beside_store(root, env, remote, seconds)
    unwritten = losses.record_losses(root, env, claims.losses)
    return [*claims.notes, *unwritten]
