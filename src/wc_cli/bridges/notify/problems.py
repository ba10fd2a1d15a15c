"""Lists the failing targets of a person's notifications, for ``wc problems``."""

from __future__ import annotations

from wc_cli.bridges.notify import notifying
from wc_core.attention.notify import targets
from wc_core.base.errors import WcError
from wc_core.base.phrases import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.ledger.configuration.preferences import Preferences


def failing(
    root: str, preferred: Preferences, env: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the label of each target that failed last in the store at ``root``, with
    the reason; an empty label for an invalid target."""
    listed = targets.parse_all(preferred.targets)
    for problem in listed.problems:
        yield "", problem
    if not root:
        return
    try:
        states = notifying.outbox_of(root, env).states()
    except WcError:
        return
    for target in listed.targets:
        state = states.get(target.id)
        if state is not None and state.failures:
            times = counted(state.failures, "time")
            label = target.label
            yield label, f"{label} failed {times}, last with: {state.problem}"
