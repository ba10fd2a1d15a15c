"""Many processes at one store.

Run as ``python -m tests.contract.racer ROLE JSON``, in the folder whose store it
is; prints one line of JSON. Every worker is a forked process of its own, and
each of its moves is a whole command line, given to `wc_cli.run.main` instead of to
a new interpreter each time: so there are many in a second.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.leaving import leave
from wc_cli.ledger.store import locks
from wc_cli.run.context import Context
from wc_cli.run.main import run
from wc_core.base.errors import Damage, NotFoundError
from wc_core.ledger.threads import projections
from wc_core.ledger.threads.pages import page as markdown
from wc_core.people.identity.resolve import Asked
from wc_core.reading.views.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wc_core.base.layout import Layout

Answer = tuple[int, str, str]


class Lane(NamedTuple):
    """A worker process, seen from its parent."""

    pid: int
    words: int
    answers: int

    def tell(self, value: Any) -> None:
        os.write(self.words, json.dumps(value).encode() + b"\n")

    def hear(self) -> Any:
        return json.loads(_line(self.answers))


def _line(handle: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        chunk = os.read(handle, 1 if not line else 65536)
        if not chunk:
            raise EOFError
        line += chunk
    return line


def wc(*words: str) -> Answer:
    """A command line in this process: exit code, results, complaints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, out.getvalue(), err.getvalue()


def error_of(answer: Answer) -> dict[str, str]:
    """The error of a command that was asked for JSON."""
    fields: dict[str, str] = json.loads(answer[2].splitlines()[-1])["error"]
    return fields


def fork(work: Callable[[int, int], None]) -> Lane:
    """A child that does ``work`` with the ends of two pipes."""
    for_child, words = os.pipe()
    answers, for_parent = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(words)
            os.close(answers)
            work(for_child, for_parent)
        finally:
            leave(0)
    os.close(for_child)
    os.close(for_parent)
    return Lane(pid, words, answers)


def _a_move(dice: random.Random, topic: str, number: int, others: int) -> list[str]:
    """What someone does next in a busy thread."""
    to = f"Agent{dice.randrange(others)}"
    return dice.choice(
        [
            ["say", topic, "--title", f"Turn {number}"],
            ["say", topic, "--title", f"To {to}", "--to", to, "--force"],
            ["ack", topic],
            ["handoff", topic, "--to", to, "--force"],
            ["handoff", topic, "--to", "anyone", "--reason", "stuck"],
            ["take", topic],
            ["take", topic, "--reason", "urgent"],
            ["set-status", topic, dice.choice(["OPEN", "IN_REVIEW", "BLOCKED"])],
            ["read", topic],
            ["read", topic, "--peek"],
            ["list"],
            ["doctor", "--repair"] if dice.random() < 0.3 else ["search", "Turn"],
        ]
    )


_READING = frozenset({"read", "list", "search", "doctor"})


def _writer(number: int, given: dict[str, Any]) -> dict[str, Any]:
    """What one writer was told: ids that were acknowledged, codes of refusals,
    and answers that are neither."""
    dice = random.Random(f"{given['seed']}-{number}")
    topic = given["topics"][number % len(given["topics"])]
    said: dict[str, Any] = {"acked": [], "refused": [], "wrong": []}
    for turn in range(given["turns"]):
        words = ["say", topic, "--title", f"By {number}, turn {turn}"]
        if given.get("mixed"):
            words = _a_move(dice, topic, turn, given["writers"])
        elif given.get("bytes"):
            words += ["--body", "x" * dice.randrange(given["bytes"])]
        writing = words[0] not in _READING
        words += given["options"] if writing else []
        answer = wc(*words, "--as", f"Agent{number}", "--json")
        if writing and answer[0] in {0, 9}:  # 9: without the ball, but saved
            said["acked"].append([topic, json.loads(answer[1])["entry_id"]])
        elif writing and answer[0] == 4:
            said["refused"].append(error_of(answer)["message"])
        elif answer[0]:
            said["wrong"].append([words, *answer])
    return said


def write(given: dict[str, Any]) -> dict[str, Any]:
    """Many writers at once; what all of them were told."""

    def work(number: int) -> Callable[[int, int], None]:
        def begin(words: int, answers: int) -> None:
            _line(words)
            said = json.dumps(_writer(number, given)).encode() + b"\n"
            while said:
                said = said[os.write(answers, said) :]

        return begin

    lanes = [fork(work(number)) for number in range(given["writers"])]
    for lane in lanes:
        lane.tell("go")
    found: dict[str, Any] = {"acked": [], "refused": [], "wrong": []}
    for lane in lanes:
        for name, values in lane.hear().items():
            found[name] += values
    return found


def _obey(words: int, answers: int) -> None:
    """Carry out the command lines that come, one by one."""
    with contextlib.suppress(EOFError):
        while True:
            answer = wc(*json.loads(_line(words)))
            os.write(answers, json.dumps(answer).encode() + b"\n")


def _at_once(lanes: Sequence[Lane], words: Sequence[list[str]]) -> list[Answer]:
    for lane, one in zip(lanes, words, strict=True):
        lane.tell(one)
    return [tuple(lane.hear()) for lane in lanes]


def _before(kind: str, topic: str, number: int) -> list[str]:
    """Set a round up: what all of them will be told to do."""
    free = ["handoff", topic, "--to", "anyone", "--reason", "next", "--as", "Pat"]
    start = ["new", topic, "--title", "Race", "--to", "anyone", "--as", "Pat"]
    answer = wc(*(free if number else start), "--json")
    assert not answer[0], answer
    last = json.loads(answer[1])["entry_id"]
    return {
        "take": ["take", topic],
        "if-ball": ["say", topic, "--title", "Mine", "--if-ball", "anyone"],
        "if-last": ["say", topic, "--title", "Mine", "--if-last", last],
        "key": ["say", topic, "--title", "Once", "--key", f"key-{number}"],
    }[kind]


def same(given: dict[str, Any]) -> dict[str, Any]:
    """Rounds in which every worker does the same thing at the same instant."""
    kind, topic = given["kind"], "race"
    lanes = [fork(_obey) for _ in range(given["workers"])]
    agents = [f"Agent{number}" for number in range(given["workers"])]
    rounds = []
    for number in range(given["rounds"]):
        words = _before(kind, topic, number)
        # Every other round in another order: the first one told is not always
        # the same.
        turned = agents[number % len(agents) :] + agents[: number % len(agents)]
        said = _at_once(lanes, [[*words, "--as", one, "--json"] for one in turned])
        told = []
        for agent, answer in zip(turned, said, strict=True):
            text = error_of(answer)["message"] if answer[0] else answer[1]
            told.append([agent, answer[0], text])
        rounds.append(told)
    return {"rounds": rounds}


def killed(given: dict[str, Any]) -> dict[str, Any]:
    """Writers with a key that are killed at random moments and tried again until
    one is told that the entry is there; its id, for each key."""
    dice = random.Random(given["seed"])
    assert not wc("new", "killed", "--title", "x")[0]  # and all is imported
    acked: dict[str, str] = {}
    kills = 0
    for number in range(given["rounds"]):
        key = f"key-{number}"
        words = ["say", "killed", "--title", key, "--key", key, "--json"]
        while key not in acked:
            lane = fork(_obey)
            lane.tell(words)
            time.sleep(dice.uniform(0, given["seconds"]))
            os.kill(lane.pid, signal.SIGKILL)
            os.waitpid(lane.pid, 0)
            kills += 1
            with contextlib.suppress(EOFError):
                answer = lane.hear()
                assert not answer[0], answer
                acked[key] = json.loads(answer[1])["entry_id"]
            os.close(lane.words)
            os.close(lane.answers)
    return {"acked": acked, "kills": kills}


def _over() -> bool:
    """Whether standard input has ended, as it does with whoever started us."""
    return bool(select.select([sys.stdin], [], [], 0)[0])


def passing(given: dict[str, Any]) -> dict[str, Any]:
    """Two agents who pass a ball back and forth until standard input ends."""
    moves = 0
    while not _over():
        me, other = (("Codex", "Cursor"), ("Cursor", "Codex"))[moves % 2]
        words = ["say", given["topic"], "--title", "x", "--as", me, "--to", other]
        answer = wc(*words, "--force")
        assert not answer[0], answer
        moves += 1
    return {"moves": moves}


def look(given: dict[str, Any]) -> dict[str, Any]:
    """Everything a reader of a thread sees until standard input ends: states in
    the order they were seen, without repetition, and damage."""
    context = Context(dict(os.environ), os.getcwd(), Asked("Codex"))
    reader, topic = context.reader, given["topic"]
    seen: list[Any] = []
    wrong: list[str] = []
    looks = 0
    while not _over():
        looks += 1
        with contextlib.suppress(NotFoundError):
            for found in (reader.snapshot(topic), reader.thread(topic)):
                wrong += [f"{one.file}: {one.message}" for one in found.damage]
                _note(seen, found.state)
        for row in Listing(reader, context.viewer).rows():
            if row.damaged or row.forked or not row.entry_count:
                wrong.append(f"listed as {row}")
        with contextlib.suppress(FileNotFoundError):
            wrong += _half(reader.layout, topic)
    return {"looks": looks, "seen": seen, "wrong": wrong[:20]}


def _note(seen: list[Any], state: Any) -> None:
    value = json.loads(json.dumps(state))
    if not seen or seen[-1] != value:
        seen.append(value)


def _half(layout: Layout, topic: str) -> list[str]:
    """What is not whole of the files that any other tool would read."""
    wrong = []
    with open(layout.meta(topic), "rb") as file:
        meta = projections.read_meta(topic, file.read())
    if isinstance(meta, Damage) or meta.state is None:
        wrong.append(f"meta.json: {meta}")
    with open(layout.page(topic), "rb") as file:
        page = markdown.parse(topic, file.read())
    if page.damage or not page.entries:
        wrong.append(f"page: {page.damage}")
    return wrong


def hold(given: dict[str, Any]) -> dict[str, Any]:
    """Hold the lock of a thread until standard input ends."""
    context = Context(dict(os.environ), os.getcwd(), Asked("Cursor"))
    path = context.reader.layout.lock(given["topic"])
    with locks.locked(path, "Cursor (Pat)", 5):
        print("held", flush=True)
        sys.stdin.read()
    return {}


ROLES = {one.__name__: one for one in (write, same, killed, passing, look, hold)}


if __name__ == "__main__":
    print(json.dumps(ROLES[sys.argv[1]](json.loads(sys.argv[2]))), flush=True)
    leave(0)
