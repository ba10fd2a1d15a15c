"""The long runs, part by part; run by ``bin/test --long``.

    bin/test --long              every part, from where it was stopped
    bin/test --long PART...      these parts
    bin/test --long --list       the parts, and what has passed
    bin/test --long --check      fail unless every part has passed as the code is now

A part has steps. What became of a step is saved in docs/long.json with the code that it
was run on, see `tests.longresults`. A part was run whole once each of its steps has
passed, over however many sittings. It is out of date while a step was run on other code
than that of today; a run begins with the steps that never passed. After `HOURS` a part
counts with the amount that it reached. The output of each step is in ``.wc-long``.
After each part the table of docs/reliability.md is made from what is saved.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests import longresults
from tests.longparts import PARTS, Part, Step
from tests.longresults import FAILED, PASSED, Result, Saved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / ".wc-long"
HOURS = 3
LIMIT = HOURS * 3600


# --- what is saved ----------------------------------------------------------------


class Standing(NamedTuple):
    """What the saved results of a part's steps say about it, whatever code they are
    from. ``covered`` is the digest of the code of today; `saved_standing` leaves it
    out."""

    part: Part
    results: Mapping[str, Result]
    covered: str

    @property
    def failed(self) -> list[str]:
        """The names of the steps that failed."""
        return [name for name, done in self.results.items() if done.result != PASSED]

    @property
    def seconds(self) -> int:
        """How long the steps took that passed."""
        return sum(done.seconds for done in self._passed())

    @property
    def amount(self) -> int:
        """How much was done by the steps that passed."""
        return sum(done.amount for done in self._passed())

    @property
    def is_done(self) -> bool:
        """Whether it was run to its end: all passed, or enough for the limit."""
        if self.failed:
            return False
        return len(self.results) == len(self.part.steps) or self.seconds >= LIMIT

    @property
    def today(self) -> Standing:
        """The same from only the results of the code of today."""
        results = {
            name: done
            for name, done in self.results.items()
            if done.covered == self.covered
        }
        return self._replace(results=results)

    @property
    def is_out_of_date(self) -> bool:
        """Whether it was run to its end, but not all of that with the code of today."""
        return self.is_done and not self.today.is_done

    def waiting(self) -> Iterator[Step]:
        """Yield the steps that are not done, as they are to be run: those that failed,
        then, within the limit, those that were never run, and those of other code."""
        steps, today = self.part.steps, self.today
        yield from (step for step in steps if step.name in self.failed)
        if today.seconds < LIMIT:
            yield from (step for step in steps if step.name not in self.results)
            yield from (step for step in steps if step.name not in today.results)

    @property
    def result(self) -> str:
        """The result in words."""
        if not self.results:
            return "not run"
        if self.failed:
            return f"**FAILED**: {', '.join(self.failed)}"
        if len(self.results) == len(self.part.steps):
            return PASSED
        if self.is_done:
            return f"{PASSED}, as far as {HOURS} hours reached"
        return f"{len(self.results)} of {len(self.part.steps)} steps passed"

    def _passed(self) -> list[Result]:
        return [done for done in self.results.values() if done.result == PASSED]

    def cells(self) -> list[str]:
        """Return amount, minutes, commits, days and result, in words."""
        done = self.results.values()
        unit = self.part.unit[: -1 if self.amount == 1 else None]
        return [
            f"{self.amount:,} {unit}" if self.results else "",
            f"{-(-self.seconds // 60)} min" if self.results else "",
            ", ".join(dict.fromkeys(one.commit for one in done)),
            _span(sorted({one.date for one in done})),
            self.result,
        ]


def _span(days: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys((days[0], days[-1]))) if days else ""


def saved_standing(part: Part, saved: Saved) -> Standing:
    """Return what is saved about a part, without a look at its code."""
    names = [step.name for step in part.steps]
    results = saved.get(part.name, {})
    known = {name: results[name] for name in names if name in results}
    return Standing(part, known, "")


def standing(part: Part, saved: Saved) -> Standing:
    """Return what is saved about a part."""
    covered = longresults.digest(part.files())
    return saved_standing(part, saved)._replace(covered=covered)


def problems(saved: Saved) -> Iterator[str]:
    """Yield why a release must wait: a part was not run to its end or failed, or what
    it covers has changed since."""
    for part in PARTS:
        now = standing(part, saved)
        if not now.is_done:
            yield f"{part.name}: {now.result}"
        elif now.is_out_of_date:
            yield f"{part.name}: what it covers has changed since {now.cells()[3]}"


def listing(saved: Saved) -> Iterator[str]:
    """Yield a line for each part."""
    for part in PARTS:
        now = standing(part, saved)
        state = "out of date, " * now.is_out_of_date + now.result
        amount, minutes, _, days, _ = now.cells()
        about = " · ".join(cell for cell in (amount, minutes, days) if cell)
        yield f"{part.name:13} {state}{f' ({about})' if about else ''}"


# --- running ----------------------------------------------------------------------


def run_part(part: Part, path: Path = longresults.SAVED, logs: Path = LOGS) -> bool:
    """Run the steps of a part that have not passed with this code, until its time is
    over; return whether it is done. Each result is saved at once."""
    tried: set[str] = set()
    now = standing(part, longresults.load(path))
    while step := next((s for s in now.waiting() if s.name not in tried), None):
        tried.add(step.name)
        done = run_step(part, step, now.covered, logs)
        if longresults.digest(part.files()) != now.covered:
            print(f"{part.name}: its files changed meanwhile; not saved", flush=True)
            return False
        saved = longresults.load(path)
        saved.setdefault(part.name, {})[step.name] = done
        longresults.save(saved, path)
        now = standing(part, saved)
    print(f"{part.name}: {now.result} ({now.cells()[0]})", flush=True)
    return now.today.is_done


def run_step(part: Part, step: Step, covered: str, logs: Path) -> Result:
    """Run a step on the code with this digest, its output in a file; return what became
    of it."""
    print(f"{part.name}/{step.name}: ", end="", flush=True)
    logs.mkdir(exist_ok=True)
    log = logs / f"{part.name}-{step.name.replace('/', '-')}.log"
    commit = _commit()
    begun = time.monotonic()
    with log.open("wb") as output:
        try:
            code = subprocess.run(
                [sys.executable, *step.words],
                cwd=ROOT,
                env={**os.environ, **step.numbers, "PYTHONPATH": str(ROOT / "src")},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=LIMIT,
            ).returncode
        except subprocess.TimeoutExpired:
            output.write(f"\nstopped after {HOURS} hours\n".encode())
            code = 1
    seconds = round(time.monotonic() - begun)
    text = log.read_text(errors="replace").rstrip()
    counted = re.findall(r"(\d+) (?:passed|changes)\b", text)
    amount = step.amount or (int(counted[-1]) if counted else 0)
    result = FAILED if code else PASSED
    last = text.rpartition("\n")[2].strip("= ")
    print(f"{result} in {seconds} s: {last[:120]}", flush=True)
    if code:
        print(f"  {log}", flush=True)
    day = time.strftime("%Y-%m-%d")
    return Result(result, amount, seconds, commit, day, covered)


def write_table() -> None:
    """Write what is saved into docs/reliability.md, which a test compares."""
    script = ROOT / "docs/make_long.py"
    subprocess.run([sys.executable, script], stdin=subprocess.DEVNULL, check=True)


def _commit() -> str:
    """Return the short name of the commit that is checked out."""
    words = ["git", "rev-parse", "--short=8", "HEAD"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def promises() -> dict[int, str]:
    """Return the promises of docs/reliability.md by their numbers."""
    text = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    found = re.findall(r"^(\d+)\. \*\*(.+?)\*\*", text, re.MULTILINE)
    return {int(number): words for number, words in found}


def main(words: Sequence[str]) -> int:
    """Run the parts of these names, or all; return an exit status."""
    names = [part.name for part in PARTS]
    unknown = [word for word in words if word not in {*names, "--list", "--check"}]
    if unknown:
        print(f"bin/test --long: no such part: {unknown[0]}", file=sys.stderr)
        print(f"There are: {', '.join(names)}", file=sys.stderr)
        return 2
    if "--list" in words:
        return _print(listing(longresults.load())) * 0
    if "--check" in words:
        return min(_print(problems(longresults.load())), 1)
    # In the order in which they are named, so that what matters most comes first.
    parts = {part.name: part for part in PARTS}
    done = []
    try:
        for name in words or names:
            done.append(run_part(parts[name]))
            write_table()
    except KeyboardInterrupt:
        print("\nstopped; the same again goes on from here", file=sys.stderr)
        return 130
    return int(not all(done))


def _print(lines: Iterable[str]) -> int:
    """Print lines; return how many there were."""
    count = 0
    for count, line in enumerate(lines, 1):  # noqa: B007
        print(line)
    return count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
