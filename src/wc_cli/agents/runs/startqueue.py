"""The threads that a look has found, and which of them may be started now."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_cli.agents.runs.choosing import RunCandidate
    from wc_cli.agents.runs.watching import Run


class StartQueue:
    """The threads that wait for their agents while others have their ``runs``: at most
    ``most``. With ``once`` each gets one turn."""

    def __init__(self, runs: Mapping[str, Run], most: int, *, once: bool) -> None:
        self._runs = runs
        self._most = most
        self._once = once
        self._done: set[str] = set()
        self.waiting: list[RunCandidate] = []

    def replace(self, candidates: Iterable[RunCandidate]) -> None:
        """Have the threads of another look wait. A thread that has had its turn and
        cannot be started is left out: what came of that was told."""
        self.waiting = [
            candidate
            for candidate in candidates
            if candidate.topic not in self._runs
            and not (candidate.obstacle and self._is_done(candidate))
        ]

    def take(self) -> RunCandidate | None:
        """Return a thread that can be started now, and give it its turn; ``None`` if
        there is none."""
        candidate = next(filter(self._can_start, self.waiting), None)
        if candidate is not None:
            self.waiting.remove(candidate)
            self._done.add(candidate.topic)
        return candidate

    def refuse(self, candidate: RunCandidate, obstacle: str) -> None:
        """Have a thread wait that could not be started, because of an obstacle."""
        self.waiting.append(candidate._replace(obstacle=obstacle))

    def give_another_turn(self, topic: str) -> None:
        """Let a thread be started again once it waits, even if each gets one turn."""
        self._done.discard(topic)

    @property
    def can_take(self) -> bool:
        """Whether a thread can be started now."""
        return any(map(self._can_start, self.waiting))

    @property
    def has_room(self) -> bool:
        """Whether one more may be started."""
        return len(self._runs) < self._most

    @property
    def is_over(self) -> bool:
        """Whether each thread that could be started has had its turn."""
        return self._once and not any(
            not candidate.obstacle and not self._is_done(candidate)
            for candidate in self.waiting
        )

    @property
    def reasons(self) -> dict[str, str]:
        """Why agents are not started, by topic; empty for a thread that only waits for
        its turn."""
        waiting = (candidate for candidate in self.waiting if candidate.agent)
        return {candidate.topic: candidate.obstacle for candidate in waiting}

    def _can_start(self, candidate: RunCandidate) -> bool:
        return not (
            candidate.obstacle
            or self._is_done(candidate)
            or self._is_taken(candidate)
            or not self.has_room
        )

    def _is_done(self, candidate: RunCandidate) -> bool:
        return self._once and candidate.topic in self._done

    def _is_taken(self, candidate: RunCandidate) -> bool:
        """Return whether an agent works in a candidate's worktree, or on its branch,
        for which there was no worktree before."""
        place = candidate.place
        return place is not None and any(
            run.record.worktree == place.path
            or (bool(place.branch) and run.record.branch == place.branch)
            for run in self._runs.values()
        )
