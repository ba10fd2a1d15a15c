"""When the front answers, and when it leaves everything to the real server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from wc_core.ledger.slowstart import slow_start
from wc_observe.front.declared import read_declared
from wc_observe.front.desk import Desk
from wc_observe.front.firstanswers import FirstAnswers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def open_desk(
    env: Mapping[str, str],
    *,
    all_stores: bool,
    repair: Callable[[bytes], bytes],
    leave: Callable[[OSError | None], None],
) -> Desk | None:
    """Returns a desk that answers from now on; ``None`` if the real server must get
    everything."""
    if slow_start(env) or sys.stdin is None or sys.stdout is None:
        return None
    answers = FirstAnswers(read_declared(), all_stores=all_stores)
    desk = Desk(answers, sys.stdin.fileno(), sys.stdout.buffer, repair, leave)
    desk.open()
    return desk
