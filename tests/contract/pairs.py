"""Two machines with one remote between them: prepared once, copied for every
test, and `wc` run on them in this process."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conftest import SOURCE, THREADS, Done
from tests.contract import inprocess
from wc_cli.ledger.merge.logs import merge_logs
from wc_cli.ledger.settle import reports, settler
from wc_core.base.layout import Layout
from wc_core.ledger.git import repository
from wc_core.ledger.threads import codec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Clone:
    """One machine: a home folder, a clone of the code and, once it is made,
    the store. ``said`` are the entries that wc acknowledged here, by thread."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        self.home = root / name
        self.path = self.home / "app"
        self.said: dict[str, list[str]] = {}
        self.env = {
            "HOME": str(self.home),
            "USER": name,
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "WATERCOOLER_DETECT": "off",
            "LC_ALL": "C.UTF-8",
            "GIT_EDITOR": "true",
            "PYTHONPATH": str(SOURCE),
            "WATERCOOLER_SYNC": "off",
        }

    def prepare(self, remote: Path) -> None:
        """Make the home folder and clone the code."""
        self.home.mkdir()
        name = self.home.name
        text = f"[user]\n\tname = {name}\n\temail = {name}@example.org\n"
        text += "[init]\n\tdefaultBranch = main\n\ttemplateDir =\n"
        (self.home / ".gitconfig").write_text(text)
        self.git("clone", "-q", str(remote), str(self.path), cwd=self.home)

    @property
    def store(self) -> Path:
        """The folder of the store: the only one below the home folder."""
        (found,) = (self.home / ".watercooler/worktrees").glob("watercooler-*[!k]")
        return found

    @property
    def layout(self) -> Layout:
        return Layout(str(self.store))

    def git(self, *words: str, cwd: Path | None = None) -> str:
        """What git prints in the store's folder, or elsewhere."""
        done = self.tried(*words, cwd=cwd)
        assert not done.code, (words, done)
        return done.out.strip()

    def tried(self, *words: str, cwd: Path | None = None) -> Done:
        """How git ends."""
        env = {k: v for k, v in self.env.items() if not k.startswith("WATER")}
        done = subprocess.run(
            ["git", *words], cwd=cwd or self.store, env=env, capture_output=True,
            check=False, stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
        return Done(
            done.returncode, *(os.fsdecode(one) for one in (done.stdout, done.stderr))
        )

    def wc(self, *words: str, env: Mapping[str, str] = {}, cwd: str = "") -> Done:
        """How a command line of wc ends here."""
        return inprocess.wc(words, self.path / cwd, {**self.env, **env})

    def ok(self, *words: str, **how: Any) -> Done:
        done = self.wc(*words, **how)
        assert not done.code, (words, done)
        return done

    def say(self, topic: str, title: str, **how: Any) -> dict[str, Any]:
        """Write an entry, which is acknowledged; the receipt."""
        done = self.ok("say", topic, "--title", title, "--json", **how)
        receipt: dict[str, Any] = done.json
        self.said.setdefault(receipt["topic"], []).append(receipt["entry_id"])
        return receipt

    def commit(self, topic: str, title: str) -> dict[str, Any]:
        """Write an entry and have it committed."""
        receipt = self.say(topic, title)
        assert self.settle().problems == {}
        return receipt

    @contextlib.contextmanager
    def writing(self, *topics: str) -> Iterator[None]:
        """Another process writes to these threads for the block; what it was
        told is saved is known afterwards."""
        words = [sys.executable, "-m", "tests.contract.pairs", str(self.path), *topics]
        env = {
            **self.env,
            "PYTHONPATH": f"{SOURCE}{os.pathsep}{SOURCE.parent}",
            "WC_TESTS_REAL_HOME": os.environ["WC_TESTS_REAL_HOME"],
        }
        with subprocess.Popen(
            words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            # Once the first is saved, however slow the machine is.
            first = writer.stdout.readline()
            try:
                yield
            finally:
                out, _ = writer.communicate("")
            for line in (first, *out.splitlines()):
                topic, entry = line.split()
                self.said.setdefault(topic, []).append(entry)

    def settle(self) -> settler.Settlement:
        """What the next command of wc has done in the background."""
        found = settler.settle(str(self.store), {**self.env}, 10)
        assert found is not None, reports.settler_at_work(self.layout)
        return found

    def log(self, topic: str) -> bytes:
        return Path(self.layout.log(topic)).read_bytes()

    def ids(self, topic: str) -> list[str]:
        """The entries that the log on disk has."""
        return [one.id for one in codec.read_log(topic, self.log(topic)).entries]

    def tip(self, ref: str = THREADS) -> str:
        return self.git("rev-parse", ref)

    @property
    def is_idle(self) -> bool:
        """Whether nobody settles or exchanges this store."""
        for path in (self.layout.git_lock, self.layout.sync_lock):
            with contextlib.suppress(FileNotFoundError), open(path) as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
        return True

    def age(self, *names: str, seconds: float = 60) -> None:
        """Make files of the checkout's git directory that much older."""
        where = repository.find(str(self.store))
        assert where is not None
        for name in names:
            info = os.stat(f"{where.gitdir}/{name}")
            when = info.st_mtime - seconds
            os.utime(f"{where.gitdir}/{name}", (when, when))

    def check(self, *others: Clone) -> None:
        """Whether all is as it is to be once wc has tidied up: every entry
        acknowledged here, or by others of whom we know, once, on disk and
        committed, in order; projections as the log gives them."""
        for clone in (self, *others):
            for topic, known in clone.said.items():
                data = self.log(topic)
                for one in known:
                    there = data.count(f'"entry_id":"{one}"'.encode())
                    assert there == 1, (topic, one, there)
                assert merge_logs(topic, data) == data
                path = os.path.relpath(self.layout.log(topic), self.store)
                blob = self.git("rev-parse", f"{THREADS}:{path}")
                assert blob == self.git("hash-object", path)
        assert self.git("status", "--porcelain") == ""
        assert self.git("symbolic-ref", "HEAD") == f"refs/heads/{THREADS}"
        doctor = self.wc("doctor")
        assert "\nNothing is wrong.\n" in doctor.out, doctor
        assert os.listdir(self.layout.unsettled) == []
        assert os.listdir(self.layout.scratch) == []


class Pair:
    """Two clones, ``a`` and ``b``, of a bare remote, at ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.remote = root / "remote.git"
        self.a = Clone(root, "a")
        self.b = Clone(root, "b")

    @classmethod
    def prepare(cls, root: Path) -> Pair:
        """Two clones that have the threads ``auth`` and ``plan``, exchanged."""
        pair = cls(root)
        root.mkdir(exist_ok=True)
        env = {**pair.a.env, "HOME": str(root)}
        words = ["git", "init", "-q", "--template=", "--bare", "-b", "main"]
        subprocess.run([*words, str(pair.remote)], check=True, env=env)
        pair.a.prepare(pair.remote)
        path = pair.a.path
        (path / "code.txt").write_text("code\n")
        pair.a.git("add", "code.txt", cwd=path)
        pair.a.git("commit", "-q", "-m", "code", cwd=path)
        pair.a.git("push", "-q", "origin", "HEAD:main", cwd=path)
        pair.b.prepare(pair.remote)
        for title in ("One", "Two"):
            pair.a.say("auth", title)
        pair.a.say("plan", "Three")
        pair.a.ok("sync")
        pair.b.ok("init")
        pair.b.ok("sync")
        return pair

    def remote_tip(self) -> str:
        """The commit the remote's branch is at; empty where it has none."""
        words = ("for-each-ref", "--format=%(objectname)", f"refs/heads/{THREADS}")
        return self.a.git("--git-dir", str(self.remote), *words)

    def set_remote(self, commit: str) -> None:
        """Move the remote's branch, by force; nowhere takes it away."""
        words = ("update-ref", *(() if commit else ("-d",)), f"refs/heads/{THREADS}")
        more = (commit,) if commit else ()
        self.a.git("--git-dir", str(self.remote), *words, *more, cwd=self.a.path)

    def copy(self, root: Path) -> Pair:
        """The same somewhere else."""
        shutil.copytree(self.root, root, symlinks=True, copy_function=shutil.copy2)
        copied = Pair(root)
        for clone, was in ((copied.a, self.a), (copied.b, self.b)):
            clone.said = {topic: list(ids) for topic, ids in was.said.items()}
            admins = list((clone.path / ".git/worktrees").glob("*/gitdir"))
            dots = list((clone.home / ".watercooler/worktrees").glob("*/.git"))
            for file in (clone.path / ".git/config", *admins, *dots):
                text = file.read_text()
                file.write_text(text.replace(f"{self.root}/", f"{root}/"))
            clone.settle()  # what copying did to the times is nobody's visit
        return copied


def write(path: Path, topics: list[str]) -> None:
    """Write to the threads in turn until the standard input ends; an entry
    that is not saved is no more than that."""
    for turn in itertools.count(1):
        topic = topics[(turn - 1) % len(topics)]
        words = ("say", topic, "--title", f"Turn {turn}", "--json")
        done = inprocess.wc(words, path, dict(os.environ))
        if not done.code:
            print(topic, done.json["entry_id"], flush=True)
        # Slower than settling, which goes on as long as there is something new.
        if select.select([sys.stdin], [], [], 0.2)[0]:
            return


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2:])
