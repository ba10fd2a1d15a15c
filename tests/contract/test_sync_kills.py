"""``wc sync`` killed at any of its git calls: nothing acknowledged is gone, every
reader works, and the next ``wc sync`` completes it, to the same tree as if
nothing had happened.

Some of the calls here, all of them in the long run.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests import amounts
from tests.contract import inprocess, invariants
from tests.contract.clones import REF
from tests.contract.simulation import Machinery
from tests.contract.worlds import Start, World
from tests.leaving import leave

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.contract.clones import Clone

# Other tests have measured what these run, over and over.
pytestmark = pytest.mark.usefixtures("unmeasured")

ALL = amounts.is_long()
# Before git has done anything; while it is at it, which ends as well; when it
# has done its work, and nobody has heard of it.
MOMENTS = ("before", "while", "done")
# So many calls go by from one that is hit to the next; together these hit every
# moment, and calls of every part.
STEPS = {"first_push": 10, "fast_forward": 16, "only_ours": 14}
STEPS |= {"true_merge": 32, "rejected": 44}
GIT = """\
#!/bin/sh
# git, but its caller is killed at one of the calls.
# Two gits may run at the same time: each takes a number that no other has.
count=1
set -C
until command : >"$SIM/call.$count"; do count=$((count + 1)); done 2>/dev/null
set +C
case " $* " in *" push "*)
  if [ -s "$SIM/faster" ]; then
    "$SIM_GIT" --git-dir="$SIM_REMOTE" update-ref {ref} "$(cat "$SIM/faster")"
    : >"$SIM/faster"
  fi
esac
if [ "$count" != "$SIM_AT" ]; then exec "$SIM_GIT" "$@"; fi
case $SIM_MOMENT in
  before) kill -KILL $PPID ;;
  while)
    "$SIM_GIT" "$@" <&0 >/dev/null 2>&1 &
    git=$!
    sleep 0.00$((count % 4))
    kill -KILL $PPID $git ;;
  done)
    "$SIM_GIT" "$@" >/dev/null 2>&1
    kill -KILL $PPID ;;
esac
"""


def say(clone: Clone, number: int, topic: str = "alpha") -> None:
    """An entry, acknowledged."""
    said = clone.write(
        number, 0, "Codex", topic=topic, action="say", title=f"n {number}", new=True
    )
    assert said.startswith("saved ")


def both_start(world: World) -> None:
    """Two clones with two entries in common."""
    one, other = world.clones
    say(one, 1)
    say(one, 2, "beta")
    assert (one.sync(), other.sync()) == ("ok", "ok")


def both_write(world: World) -> None:
    """Each has entries and files that the other has not, and one has sent
    them."""
    both_start(world)
    for at, clone in enumerate(world.clones):
        say(clone, 10 + at)
        say(clone, 20 + at, f"own{at}")
        clone.put("notes.txt", f"same\n{at}\n", commit=True)
        clone.put(f"docs/{at}", f"{at}\n", commit=True)
    say(world.clones[0], 30, "beta")


def first_push(world: World) -> None:
    """The remote has not got the branch."""
    say(world.clones[0], 1)
    say(world.clones[0], 2, "beta")


def only_ours(world: World) -> None:
    """Nobody else wrote: the push begins while settling still tidies up."""
    both_start(world)
    say(world.clones[0], 10)
    say(world.clones[0], 11, "own0")


def fast_forward(world: World) -> None:
    """Only the other one wrote something."""
    both_start(world)
    other = world.clones[1]
    say(other, 10)
    say(other, 11, "own1")
    other.put("notes.txt", "new\n", commit=True)
    assert other.sync() == "ok"


def true_merge(world: World) -> None:
    """Both wrote, in the same thread and the same file."""
    both_write(world)
    assert world.clones[1].sync() == "ok"


def rejected(world: World) -> None:
    """The other one sends in the moment between our fetch and our push."""
    both_write(world)
    other = world.clones[1]
    assert other.settle() == "ok"
    other.git("push", "-q", "origin", f"{other.tip}:refs/prepared/faster")


SCENES = {
    scene.__name__: scene
    for scene in (true_merge, first_push, fast_forward, only_ours, rejected)
}


class Stage(NamedTuple):
    """A scene that can be played again and again."""

    machinery: Machinery
    folder: Path

    def prepare(self, scene: Callable[[World], None]) -> None:
        """Make the scene, and what there is to start from each time."""
        world = self.machinery.world(Start((True, True)))
        for clone in world.clones:
            clone.at(5)
        scene(world)
        shutil.copytree(self.machinery.now, f"{self.machinery.base}/scene")

    def world(self) -> World:
        """The scene as it was prepared."""
        shutil.rmtree(self.machinery.now)
        shutil.copytree(f"{self.machinery.base}/scene", self.machinery.now)
        world = World(self.machinery.now, Start((True, True)))
        for clone in world.clones:
            clone.at(100)
        prepared = world.clones[1].git(
            "for-each-ref", "--format=%(objectname)", "refs/prepared", cwd=world.remote
        )
        (self.folder / "faster").write_text(prepared)
        for call in self.folder.glob("call.*"):
            call.unlink()
        return world

    def sync(self, world: World, at: int = 0, moment: str = "") -> int:
        """``wc sync`` in a process that is killed at that call of git; its exit
        code, or minus the signal that ended it."""
        clone = world.clones[0]
        env = {
            **clone.env,
            "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}",
            "SIM": str(self.folder),
            "SIM_GIT": str(shutil.which("git")),
            "SIM_REMOTE": world.remote,
            "SIM_AT": str(at),
            "SIM_MOMENT": moment,
        }
        pid = os.fork()
        if not pid:
            code = 1
            try:
                code = inprocess.wc(["sync"], Path(clone.app), env).code
            finally:
                leave(code)
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)

    @property
    def calls(self) -> int:
        """How many gits there were."""
        return len(list(self.folder.glob("call.*")))


@pytest.fixture(scope="module")
def machinery() -> Iterator[Machinery]:
    made = Machinery()
    yield made
    made.close()


@pytest.fixture
def stage(machinery: Machinery, tmp_path: Path) -> Iterator[Stage]:
    git = tmp_path / "git"
    git.write_text(GIT.format(ref=REF))
    git.chmod(0o755)
    yield Stage(machinery, tmp_path)
    shutil.rmtree(f"{machinery.base}/scene")


def tree(world: World) -> str:
    """The tree that the remote's branch has."""
    return world.clones[1].git("rev-parse", f"{REF}^{{tree}}", cwd=world.remote)


@pytest.mark.parametrize("name", SCENES)
def test_a_sync_that_is_killed_is_completed_by_the_next(
    stage: Stage, name: str
) -> None:
    stage.prepare(SCENES[name])
    world = stage.world()
    assert stage.sync(world) == 0
    wanted, count = tree(world), stage.calls
    kills = 0
    step = 1 if ALL else STEPS[name]
    for at in range(1, count + 1, step):
        for moment in MOMENTS if ALL else (MOMENTS[at // step % len(MOMENTS)],):
            world = stage.world()
            known = [invariants.Known(clone) for clone in world.clones]
            assert [one.look("") for one in known] == [[], []]
            died = stage.sync(world, at, moment)
            assert died == -9, (at, moment)
            kills += 1
            assert known[0].look("") == [], (at, moment)
            invariants.age(world.clones[0])
            one, other = world.clones
            said = [clone.sync() for clone in (other, one, other)]
            assert said == ["ok", "ok", "ok"], (at, moment)
            assert [each.look("") for each in known] == [[], []], (at, moment)
            assert invariants.final(world, known, once=True, doubted={0}) == [], (
                at,
                moment,
            )
            assert tree(world) == wanted, (at, moment)
    print(f"{name}: {count} calls of git, killed at {kills}")
