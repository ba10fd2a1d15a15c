"""What agents are to run when a session starts, a person asks, a turn ends."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.install.changes import Part, Surroundings


def parts(client: str, surroundings: Surroundings) -> tuple[Part, ...]:  # noqa: ARG001
    """The hooks of an agent, if it has any."""
    return ()
