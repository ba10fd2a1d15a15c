"""Reports skipped tests once for each reason, whatever their number."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each reason to skip tests."""
    skipped = terminalreporter.stats.get("skipped", [])
    for line in summary(report.longrepr[2] for report in skipped):
        terminalreporter.write_line(line)


def summary(reasons: Iterable[str]) -> list[str]:
    """Return a line for each reason with the number of its tests."""
    counts = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    return [f"SKIPPED [{counts[reason]}] {reason}" for reason in sorted(counts)]
