"""Watching the agents that run: their output, their limits, their end."""

from __future__ import annotations

import signal
import time

from wc_cli.agents.runs.output import RunOutput
from wc_cli.ledger.clock import now_ms
from wc_core.base.times import span
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_cli.agents.runs.process import AgentProcess
    from wc_cli.agents.runs.starting import StartedRun
    from wc_cli.run.context import Context
    from wc_core.attention.runs.records import RunRecord
    from wc_core.base.layout import Layout

# After an interrupt, an agent has so many seconds to end its turn.
_GRACE_SECONDS = 15.0


class Run(NamedTuple):
    """A run that is watched: its record, its process, the agent's context, and when it
    must end (on the monotonic clock)."""

    record: RunRecord
    process: AgentProcess
    at: Context
    end: float

    @property
    def topic(self) -> str:
        """Its thread."""
        return self.record.topic


class RunWatcher:
    """Watches runs until they end. ``seconds`` is how long an agent may run."""

    def __init__(self, layout: Layout, env: Mapping[str, str], seconds: float) -> None:
        self._layout = layout
        self._env = env
        self._seconds = seconds
        self._stop_at = 0.0
        # By their topics.
        self.runs: dict[str, Run] = {}

    def add(self, started: StartedRun) -> None:
        """Watch a run from now on."""
        record = started.record
        elapsed = max(0, now_ms() - record.started_ms) / 1000
        self.runs[record.topic] = Run(
            record,
            started.process,
            started.at,
            time.monotonic() + self._seconds - elapsed,
        )

    def ended(self, interrupts: int) -> Iterator[tuple[Run, str]]:
        """Look at every run. Yields each that has ended, with how in its record, and
        why it was ended, or nothing; it is no longer watched. After the first of the
        ``interrupts`` they are asked to end, after the second they are ended."""
        now = time.monotonic()
        if interrupts and not self._stop_at:
            self._stop_at = now + _GRACE_SECONDS
            for run in self.runs.values():
                run.process.send(signal.SIGINT)
        is_over = interrupts > 1 or bool(self._stop_at and now >= self._stop_at)
        for run in [*self.runs.values()]:
            self._output_of(run).limit()
            if run.process.has_ended:
                yield self._end(run), ""
            elif is_over:
                run.process.send(signal.SIGKILL)
            elif not interrupts and now >= run.end:
                yield self._end(run), f"took longer than {span(int(self._seconds))}"

    def _end(self, run: Run) -> Run:
        """End what is left of a run, and stop watching it."""
        del self.runs[run.topic]
        run.process.end_group()
        self._output_of(run).finish()
        status = run.process.exit_status
        return run._replace(
            record=run.record._replace(ended_ms=now_ms(), exit_status=status)
        )

    def _output_of(self, run: Run) -> RunOutput:
        return RunOutput.of(self._layout, run.topic, self._env)
