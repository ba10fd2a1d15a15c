"""Renews the claims of active participants after a third of their time to live."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.edits.claims import held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository
    from wc_core.people.identity.viewer import Viewer


def renew_if_due(
    layout: Layout, viewer: Viewer, repository: Repository, env: Mapping[str, str]
) -> None:
    """Renew all claims of the viewer in this worktree if that is due. Never raises for
    a failed renewal: the viewer's next activity tries again."""
    name = held.file_name(repository.worktree_id, viewer.key)
    if not held.is_due(layout, name):
        return
    # 20 ms, once in five minutes.
    from wc_cli.edits.claims.holding import ClaimHolder, Holding
    from wc_cli.edits.claims.registry import Registry

    holder = ClaimHolder.of(viewer, repository, "")
    with contextlib.suppress(WcError, OSError):
        Holding(Registry(repository, layout, env), holder, 0.0).renew()


def new_losses(
    layout: Layout, viewer: Viewer, repository: Repository, env: Mapping[str, str]
) -> list[str]:
    """The ids of claims that the viewer had in this worktree and lost, unless reported
    before. They count as reported from now on."""
    name = held.file_name(repository.worktree_id, viewer.key)
    if held.load(layout, name) is None:
        return []
    # 20 ms, only for holders of claims.
    from wc_cli.edits.claims.holding import ClaimHolder, Holding
    from wc_cli.edits.claims.registry import Registry

    holder = ClaimHolder.of(viewer, repository, "")
    return Holding(Registry(repository, layout, env), holder, 0.0).new_losses()
