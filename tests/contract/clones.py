"""A clone of a repository on a machine of its own: what wc does there, and what
people do with plain git and bare hands."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from wc_cli.commands import sync as syncing
from wc_cli.ledger.doctor.repair import Repair
from wc_cli.ledger.settle import settler
from wc_cli.ledger.store.writer import IdSource
from wc_cli.ledger.sync import firstcontact
from wc_cli.ledger.sync.exchange import Waiting
from wc_cli.ledger.sync.exchanger import Exchanger
from wc_cli.run.context import Context
from wc_core.base.layout import BRANCH, Layout
from wc_core.ledger.git import repository
from wc_core.ledger.git.repository import Repository
from wc_core.ledger.threads.proposals import Draft
from wc_core.people.identity.resolve import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.contract.worlds import World

OLDER = ("old", "older")
REF = f"refs/heads/{BRANCH}"
TRACKING = f"refs/remotes/origin/{BRANCH}"
START_MS = 1_772_000_000_000
SECONDS = 30.0
# What some people have in their configuration.
HABITS = (
    "",
    "[core]\n\tautocrlf = true\n\tsafecrlf = true\n",
    "[fetch]\n\tprune = true\n[merge]\n\tff = only\n[push]\n\tdefault = nothing\n",
    "[pull]\n\trebase = true\n[rebase]\n\tautostash = true\n[core]\n\tabbrev = 4\n",
    "[merge]\n\tconflictStyle = diff3\n[rerere]\n\tenabled = true\n",
    "[core]\n\tquotePath = false\n[diff]\n\trenames = copies\n\tnoprefix = true\n",
)
OLD_PAGE = """\
# {topic} - Thread
Status: OPEN
Ball: Claude Code (pat)
Topic: {topic}
Created: 2025-10-07T00:27:54Z
"""
OLD_ENTRY = """
---
Entry: Codex (pat) 2025-10-07T0{number}:27:54Z
Role: implementer
Type: Note
Title: old {number}

Of the markdown age, {number}.
"""
# What a note of an exchange says if something could not be done.
_PROBLEMS = ("not taken in", "not rendered", "not committed", "not finished", "not tid")


class Clone:
    """One person's machine."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.home = f"{world.folder}/c{number}"
        self.app = f"{self.home}/app"
        self.number = number
        self.env = {
            "HOME": self.home,
            "USER": f"user{number}",
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "WATERCOOLER_DETECT": "off",
            "WATERCOOLER_SYNC": "off",
        }
        self.where = Repository(f"{self.app}/.git", f"{self.app}/.git", self.app)
        # Files that the person changed and has not committed.
        self.dirty: set[str] = set()
        # Threads whose projections the person deleted.
        self.bare: set[str] = set()

    def prepare(self, *, ready: bool) -> None:
        """Make the clone; ``ready`` also its store."""
        os.makedirs(self.home)
        name = f"[user]\n\tname = Pat{self.number}\n\temail = pat@example.org\n"
        with open(f"{self.home}/.gitconfig", "w", encoding="ascii") as file:
            file.write(name + HABITS[self.number])
        clone = ("clone", "-q", "--template=", self.world.remote, self.app)
        self.git(*clone, cwd=self.world.folder)
        if ready:
            self.init()

    def git(self, *words: str, cwd: str = "") -> str:
        """What the person's git prints; raises CalledProcessError."""
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.store,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode(errors="surrogateescape").strip()

    def at(self, number: int) -> None:
        """Let it be the time of a step."""
        when = f"{START_MS // 1000 + number} +0000"
        self.env |= {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}

    def context(self, agent: str = "Codex") -> Context:
        """What a command works with."""
        return Context(self.env, self.app, Asked(agent))

    @property
    def store(self) -> str:
        """The folder of the store; empty where there is none."""
        for one in repository.checkouts_of(self.where, BRANCH):
            if one.trusted and one.finished and os.path.isdir(one.path):
                return one.path
        return ""

    @property
    def layout(self) -> Layout:
        """Where the store has what."""
        return Layout(self.store)

    @property
    def tip(self) -> str:
        """The commit the branch is at."""
        return repository.resolve(self.where, REF)

    # --- what wc does -------------------------------------------------------

    def init(self) -> str:
        """``wc init``."""
        context = self.context()
        context.ensure_store(missing_ok=True)
        context.writer()
        return "ok"

    def write(self, number: int, hours: int, agent: str, **draft: Any) -> str:
        """``wc say`` and the like, by a clock that is so many hours ahead."""
        now_ms = START_MS + number * 1000 + hours * 3_600_000
        source = IdSource(lambda: now_ms, lambda: number * 7919 + self.number)
        done = self.context(agent).writer().write(Draft(**draft), source, 0.0)
        return f"saved {done.topic} {done.entry_id}"

    def settle(self) -> str:
        """What the helper does after a write."""
        place = self.context().place
        if place.exists:
            done = settler.settle(place.root, self.env, 10)
            if done is None or done.problems:
                return f"problems {done}"
        return "ok"

    def sync(self, tell: Callable[[str], None] | None = None) -> str:
        """``wc sync``; the text of each thing it does goes to ``tell``."""
        exchanger = self._exchanger(tell or (lambda _: None))
        done = exchanger.exchange()
        problems = [note for note in done.notes if any(p in note for p in _PROBLEMS)]
        return f"problems {problems}" if problems else "ok"

    def look(self) -> str:
        """``wc sync --dry-run``."""
        done = self._exchanger(lambda _: None).preview()
        return f"ok {done.ahead} {done.behind}"

    def _exchanger(self, tell: Callable[[str], None]) -> Exchanger:
        context = self.context()
        waiting = Waiting.at_most(SECONDS, tell=tell)
        where, remote = syncing.store_route(context)
        if not context.place.exists:
            firstcontact.fetch_first(where, self.env, remote, waiting)
            context.ensure_store(missing_ok=True)
        root = context.writer().place.root
        return Exchanger(root, self.env, remote, waiting)

    def repair(self) -> str:
        """``wc doctor --repair``."""
        place = self.context().place
        if place.exists:
            list(Repair(place.root, self.env, dry_run=False).run())
        return "ok"

    # --- what people do -----------------------------------------------------

    def merge(self, words: Sequence[str]) -> str:
        """A plain ``git merge``, ``git pull`` or the like in the store's
        folder, given up where git says no."""
        refspec = f"+{REF}:{TRACKING}"
        # git drops what it thinks that others dropped. Logs come back by that
        # which we noted; a page of an older tool is a file like any other.
        pages = any(os.path.exists(self.layout.page(one)) for one in OLDER)
        if pages and self.world.rewritten and {*words} & {"rebase", "--rebase"}:
            return "ok"
        try:
            self.git("fetch", "-q", "origin", refspec)
            self.git(*words)
        except subprocess.CalledProcessError as error:
            for undo in (("merge", "--abort"), ("rebase", "--abort")):
                try:
                    self.git(*undo)
                except subprocess.CalledProcessError:
                    continue
            return f"git said {(error.stderr or error.stdout).decode()[:200]!r}"
        return "ok"

    def put(self, name: str, data: str, *, commit: bool) -> str:
        """Give a file of the store other bytes, and commit it."""
        path = f"{self.store}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data.encode())
        self.dirty.add(name)
        if commit:
            self.keep()
        return "ok"

    def keep(self) -> str:
        """Commit what the person changed."""
        for name in sorted(self.dirty):
            # git itself refuses it before the branch of an older tool has attributes.
            safe = ("-c", "core.safecrlf=false")
            self.git(*safe, "add", "-f", "--", name)
            if self.git("diff", "--cached", "--name-only", "--", name):
                self.git(*safe, "commit", "-q", "-m", f"By hand: {name}", "--", name)
        self.dirty.clear()
        return "ok"

    def old(self, topic: str, count: int, *, commit: bool) -> str:
        """An older tool writes so many entries into a thread, which is a page
        of markdown, unless wc has it already."""
        layout = self.layout
        if os.path.lexists(layout.log(topic)):
            return "ok"
        path = layout.page(topic)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                count = max(count, file.read().count("\nEntry: "))
        page = OLD_PAGE.format(topic=topic)
        page += "".join(OLD_ENTRY.format(number=one) for one in range(count))
        return self.put(os.path.relpath(path, layout.root), page, commit=commit)

    def unproject(self, topic: str) -> str:
        """Delete what is rendered of a thread."""
        layout = self.layout
        if os.path.lexists(layout.log(topic)):
            self.bare.add(topic)
            for path in (layout.meta(topic), layout.edges(topic), layout.page(topic)):
                if os.path.lexists(path):
                    os.unlink(path)
        return "ok"

    def gc(self) -> str:
        """``git gc``."""
        keep = ("-c", "gc.reflogExpire=never")
        self.git(*keep, "gc", "-q", "--prune=now", cwd=self.app)
        return "ok"

    def drop(self) -> str:
        """Delete the folder of the store, once everything is committed."""
        said = self.settle()
        if said == "ok" and not self.dirty:
            shutil.rmtree(self.store)
        return said
