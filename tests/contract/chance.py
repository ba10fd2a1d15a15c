"""What happens in a simulated world: drawn by dice, told as steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.contract.clones import OLDER, TRACKING
from tests.contract.worlds import Start, Step
from wc_core.base.layout import BRANCH

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

AGENTS = ("Codex", "Claude Code", "Cursor")
BODIES = (
    "",
    "One line.",
    "a\r\nb\r\n\r\n",
    "\x00\x07\x85\u2028 🧵 \ufeff e\u0301",
    "---\nEntry: Codex 2026-01-01T00:00:00Z\nTitle: no entry\n\n---\n",
    "<<<<<<< ours\n=======\n>>>>>>> theirs\n",
    '{"entry_id":"01","key":"key-1"}\n',
    "long\n" * 400,
)
MOVES = ("say",) * 6 + ("ack", "take", "handoff", "set_status", "new")
STATUSES = ("OPEN", "IN_REVIEW", "BLOCKED", "CLOSED")
# The last two are wrong by years.
HOURS = (0, 0, 0, -30, -2, 3, 20, 50, 26_000, -90_000)
PLAIN = (
    ("merge", "-q", "--no-edit", TRACKING),
    ("merge", "-q", "--no-edit", "--allow-unrelated-histories", TRACKING),
    ("merge", "-q", "--ff-only", TRACKING),
    ("pull", "-q", "--no-rebase", "--no-edit", "origin", BRANCH),
    ("pull", "-q", "--rebase", "origin", BRANCH),
    ("rebase", "-q", TRACKING),
)
OPS = {
    "write": 36,
    "settle": 9,
    "sync": 24,
    "look": 3,
    "race": 3,
    "meanwhile": 3,
    "merge": 5,
    "put": 4,
    "keep": 1,
    "old": 2,
    "unproject": 2,
    "gc": 1,
    "drop": 2,
    "init": 3,
    "repair": 2,
    "away": 1,
    "decline": 1,
    "back": 3,
    "rewrite": 2,
}
# What wc does may be interrupted.
HITTABLE = frozenset(
    {"write", "settle", "sync", "race", "meanwhile", "look", "init", "repair"}
)
REWRITTEN = ("delete", "squash", "back", "remove", "restart")
# How likely something is.
HIT = 0.2
READY = 0.7
OLD = 0.15
SKEW = 0.05
KEY = 0.15
COMMITTED = 0.7
ACTIONS = (
    ("die-before", "git"),
    ("die-after", "git"),
    ("die-half", "git"),
    ("die-before", "any"),
    ("die-after", "any"),
    ("die-half", "any"),
    ("ENOSPC", "any"),
    ("EIO", "any"),
    ("kill-git", "git"),
    ("unreadable", "files"),
)
LATEST = {
    "git": {"settle": 12, "repair": 12, "init": 12, "write": 12},
    "any": {"write": 80},
    "files": {"write": 40},
}
LONGEST = {"git": 22, "any": 300, "files": 150}


def start_of(dice: random.Random, most: int) -> Start:
    """How a world begins."""
    count = dice.choice([2, 2, 2, 3, 3, *range(2, most + 1)])
    ready = tuple(dice.random() < READY for _ in range(count))
    return Start(ready, dice.random() < OLD)


def steps_of(dice: random.Random, start: Start, most: int) -> Iterator[Step]:
    """What happens in it."""
    ops, weights = list(OPS), list(OPS.values())
    hours = [0] * len(start.ready)
    for number in range(1, dice.randint(min(8, most), most) + 1):
        op = dice.choices(ops, weights)[0]
        clone = dice.randrange(len(hours))
        if dice.random() < SKEW:
            hours[clone] = dice.choice(HOURS)
        turn = _Turn(dice, number, clone, hours)
        args = getattr(turn, op)() if hasattr(turn, op) else {}
        yield Step(number, op, clone, args, turn.hit(op))


class _Turn:
    """The turn of one clone: with what each thing is done there."""

    def __init__(
        self, dice: random.Random, number: int, clone: int, hours: list[int]
    ) -> None:
        self.dice = dice
        self.number = number
        self.clone = clone
        self.hours = hours

    def hit(self, op: str) -> tuple[str, str, int] | None:
        """What goes wrong in doing it, if anything."""
        if op not in HITTABLE or self.dice.random() >= HIT:
            return None
        action, kind = self.dice.choice(ACTIONS)
        latest = LATEST[kind].get(op, LONGEST[kind])
        return action, kind, self.dice.randint(1, latest)

    def _topic(self) -> str:
        return self.dice.choice(["alpha", "alpha", "beta", "old", f"own{self.clone}"])

    def write(self) -> dict[str, Any]:
        """What is written, by whom, and when they think that it is."""
        action = self.dice.choice(MOVES)
        draft: dict[str, Any] = {
            "hours": self.hours[self.clone],
            "agent": self.dice.choice(AGENTS),
            "topic": self._topic(),
            "action": action,
            "title": f"{action} {self.number}",
            "body": self.dice.choice(BODIES),
        }
        if self.dice.random() < KEY:
            draft["key"] = f"key-{self.dice.randrange(4)}"
        if action == "set_status":
            draft["status"] = self.dice.choice(STATUSES)
        if action in {"take", "handoff"}:
            draft["reason"] = "because"
        if action in {"say", "handoff"}:
            draft |= {"to": self.dice.choice(AGENTS), "force": True}
        if action == "say":
            draft |= {"reopen": True, "new": True}
        return draft

    def race(self) -> dict[str, Any]:
        """Who is faster."""
        others = [one for one in range(len(self.hours)) if one != self.clone]
        return {"other": self.dice.choice(others)}

    def meanwhile(self) -> dict[str, Any]:
        """What is written while an exchange is at what."""
        when = self.dice.choice(["Fetching", "Sending"])
        return {"when": when, "write": self.write()}

    def merge(self) -> dict[str, Any]:
        """How a person merges."""
        return {"words": self.dice.choice(PLAIN)}

    def put(self) -> dict[str, Any]:
        """Which file becomes what."""
        few, number = self.dice.randrange(3), self.number
        data = {
            "notes.txt": f"same\nline {few}\nsame\n{number}\n",
            "data.json": f'{{"same": 1, "k{few}": {number}}}\n',
            "docs/list.jsonl": f'{{"n": {few}}}\n{{"n": {number}}}\n',
            "docs/bin": f"\0{number}",
            "config.toml": f'[aliases]\na{few} = "Codex"\nb = "Cursor"\n# {number}\n',
        }
        name = self.dice.choice(list(data))
        return {"name": name, "data": data[name], "commit": self._is_committed()}

    def old(self) -> dict[str, Any]:
        """What an older tool writes."""
        topic, count = self.dice.choice(OLDER), self.dice.randint(1, 4)
        return {"topic": topic, "count": count, "commit": self._is_committed()}

    def _is_committed(self) -> bool:
        return self.dice.random() < COMMITTED

    def unproject(self) -> dict[str, Any]:
        """Of which thread the projections go."""
        return {"topic": self._topic()}

    def rewrite(self) -> dict[str, Any]:
        """How the remote's branch is rewritten."""
        return {"how": self.dice.choice(REWRITTEN)}
