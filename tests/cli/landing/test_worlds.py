"""Random histories with landings: whatever happened before, what has landed is on the
base branch once and whole, and nothing else has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import amounts
from tests.cli.landing.story import CODEX, begin, begun, change, empty_machine

if TYPE_CHECKING:
    from tests.conftest import Machine
    from tests.contract.inprocess import Here

TOPICS = ("ant", "bee", "cat")
METHODS = ("--merge", "--rebase", "--squash")
topics = st.sampled_from(TOPICS)
lines = st.sampled_from((3, 4, 12))
steps = st.one_of(
    st.tuples(st.just("work"), topics, lines),
    st.tuples(st.just("work"), topics, lines),
    st.tuples(st.just("approve"), topics),
    st.tuples(st.just("land"), topics, st.sampled_from(METHODS)),
    st.tuples(st.just("land"), st.just("--all"), st.sampled_from(METHODS)),
    st.tuples(st.just("base"), lines),
    st.tuples(st.just("merge"), topics),
    st.tuples(st.just("undo")),
)


class World:
    """A repository in which agents work on branches, and Pat lands them."""

    def __init__(self, machine: Machine) -> None:
        self.here = begun(machine, begin)
        self.trees: dict[str, Here] = {}
        self.changes = 0
        self.landed: set[str] = set()
        # Where main was before the last landing, and how often it was put back there.
        self.before = ""
        self.undone = 0

    def tree(self, topic: str) -> Here:
        """The worktree of a topic, whose thread is open and Pat's."""
        if topic not in self.trees:
            self.trees[topic] = tree = self.here.worktree(f"app-wt-{topic}", topic)
            tree.ok("new", topic, "-m", f"Do {topic}", "--to", "Pat", *CODEX)
        return self.trees[topic]

    def work(self, topic: str, line: int) -> None:
        self.changes += 1
        change(self.tree(topic), line, f"{topic} {self.changes}")

    def base(self, line: int) -> None:
        self.changes += 1
        change(self.here, line, f"main {self.changes}")

    def merge(self, topic: str) -> None:
        """Bring a branch up to date, as its author does after a conflict."""
        self.tree(topic).git("merge", "-q", "-X", "ours", "main")

    def approve(self, topic: str) -> None:
        self.tree(topic)
        thread = self.here.json("read", topic, "--peek")
        if thread["status"] == "CLOSED":
            self.here.ok("set-status", topic, "OPEN")
        if thread["ball"] not in {None, "Pat"}:
            self.here.ok("take", topic, "--reason", "to review it")
        self.here.ok("say", topic, "--approve", "--to", "Pat")

    def undo(self) -> None:
        """Reset main to where it was before the last landing."""
        if self.before:
            self.here.git("reset", "-q", "--hard", self.before)
            self.before = ""
            self.undone += 1

    def heads(self) -> dict[str, str]:
        """The commit of each branch."""
        words = ("for-each-ref", "--format=%(refname:short) %(objectname)")
        lines = self.here.git(*words, "refs/heads/").splitlines()
        heads = dict(line.split(" ") for line in lines)
        return {name: heads[name] for name in ("main", *self.trees)}

    def land(self, what: str, method: str) -> None:
        here = self.here
        if not self.trees or what not in {"--all", *self.trees}:
            return
        heads = self.heads()
        before = heads["main"]
        done = here.wc("land", what, method, "--json")
        assert done.code in {0, 4, 9}, done
        assert here.git("status", "--porcelain") == ""
        after = self.heads()
        assert after | {"main": before} == heads
        told = done.json.get("landed", []) if done.code != 4 else []
        landed = [item for item in told if item["state"] == "landed"]
        failed = [item for item in told if item["state"] == "failed"]
        if landed:
            self.before = before
            here.git("merge-base", "--is-ancestor", before, "main")
        else:
            assert after["main"] == before
        for item in landed:
            topic, thread = item["topic"], here.json("read", item["topic"], "--peek")
            assert thread["status"] == "CLOSED"
            here.git("merge-base", "--is-ancestor", item["commit"], "main")
            if method == "--merge":
                here.git("merge-base", "--is-ancestor", heads[topic], "main")
        for item in failed:
            thread = here.json("read", item["topic"], "--peek")
            assert (thread["status"], item["paths"]) == ("OPEN", ["notes.txt"])
        is_again = bool(self.landed.intersection(item["topic"] for item in landed))
        self.landed |= {item["topic"] for item in landed}
        # Of several, a later one may have changed it. A rebase leaves out what has
        # landed before, even if main has changed the same lines since.
        if len(landed) == 1 and not (is_again and method == "--rebase"):
            merged = here.git("merge-tree", "--write-tree", "main", heads[topic])
            assert merged == here.git("rev-parse", "main^{tree}")


@settings(
    max_examples=amounts.examples(6),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(steps, min_size=6, max_size=20))
def test_what_has_landed_is_there_once_and_whole(
    history: list[tuple[str, ...]],
) -> None:
    world = World(empty_machine())
    for name, *words in history:
        getattr(world, name)(*words)
    for topic in world.trees:
        entries = world.here.entries(topic)
        landed = [item for item in entries if item.get("landing", {}).get("commit")]
        approved = [item for item in entries if item.get("outcome") == "approved"]
        assert len(landed) <= len(approved) + world.undone
