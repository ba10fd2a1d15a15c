"""How much the tests do: little in `bin/test`, a lot in `bin/test --long`.

A number in one of these variables takes the place of both:

- ``WC_TEST_ROUNDS``: rounds of the tests in tests/contract, worlds of the simulation
- ``WC_TEST_EXAMPLES``: examples of each property
- ``WC_TEST_SEED``: the first seed of the simulation, and of the fuzzer
"""

from __future__ import annotations

import os

# Set by the option --long of pytest; read by the tests' child processes as well.
LONG = "WC_TEST_LONG"


def is_long() -> bool:
    """Return whether this is a long run."""
    return LONG in os.environ


def rounds(short: int, long: int) -> int:
    """Return how many rounds a test has."""
    return _number("WC_TEST_ROUNDS", short, long)


def examples(short: int, long: int = 1000) -> int:
    """Return how many examples a property is tried with."""
    return _number("WC_TEST_EXAMPLES", short, long)


def patience(seconds: float) -> float:
    """Return for how many seconds a test waits for what has to come: in a long run,
    whose machine is busy for hours, five times as long."""
    return 5 * seconds if is_long() else seconds


def seed() -> str:
    """Return the seed that random tests begin with."""
    return os.environ.get("WC_TEST_SEED", "1")


def _number(name: str, short: int, long: int) -> int:
    return int(os.environ.get(name) or (long if is_long() else short))
