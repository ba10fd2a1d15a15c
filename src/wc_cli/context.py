"""What a command works with: made once, each part when it is first needed."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from wc_cli import spawn
from wc_core.errors import NotFoundError, StorageError, WcError
from wc_core.git import discovery
from wc_core.git.discovery import BRANCH_STORE
from wc_core.identity import resolve as identity
from wc_core.identity.resolve import Asked
from wc_core.layout import BRANCH, Layout
from wc_core.text import clean
from wc_core.threads import settings
from wc_core.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.options import Declared, Options
    from wc_cli.store.writer import IdSource, StoreWriter
    from wc_core.git.discovery import Place
    from wc_core.git.freshness import Standing
    from wc_core.identity.resolve import Identity
    from wc_core.identity.viewer import Viewer
    from wc_core.threads.settings import Settings
    from wc_core.views.overview import Overview

_RANDOM_BYTES = 10
_NOT_ASKED = Asked()


class Context:
    """The world of one command: environment, folder, clock, terminal.

    ``asked`` is what the command line says of identity.
    """

    def __init__(
        self, env: Mapping[str, str], cwd: str, asked: Asked = _NOT_ASKED
    ) -> None:
        self.env = env if env.get("USER") else {**env, "USER": os_user(env)}
        self.cwd = cwd
        self.asked = asked
        self._place: Place | None = None
        self._settings: Settings | None = None
        self._identity: Identity | None = None

    @property
    def place(self) -> Place:
        """The store of this folder. Raises what `discovery.find` raises."""
        if self._place is None:
            self._place = discovery.find(self.cwd, self.env)
        return self._place

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        if self._settings is None:
            self._settings = settings.load(self.place.root, self.env)
        return self._settings

    @property
    def identity(self) -> Identity:
        """Who speaks."""
        if self._identity is None:
            self._identity = identity.identify(
                self.asked, self.env, self.place.repository, self.settings
            )
        return self._identity

    @property
    def reader(self) -> StoreReader:
        """The store, to read.

        Raises NotFoundError where its threads are on a branch that nobody
        has checked out yet; a store that does not exist reads as empty.
        """
        place = self.place
        if not place.exists and place.branch_exists:
            raise NotFoundError(
                f"This repository has threads on its branch {BRANCH}, but they are "
                "not checked out on this machine.",
                "Check them out: wc init",
            )
        reader = StoreReader(place.root)
        if self.settings.sync == "background":
            spawn.start_if_due(reader.layout, self.settings, self.env)
        return reader

    @property
    def viewer(self) -> Viewer:
        """Who looks at threads."""
        from wc_core.identity.viewer import Viewer  # who writes is not shown anything

        return Viewer(self.identity, self.settings.directory)

    @property
    def overview(self) -> Overview:
        """The store as they see it."""
        from wc_core.views.overview import Overview  # only a few commands list threads

        return Overview(self.reader, self.viewer)

    @property
    def standing(self) -> Standing | None:
        """How the store stands to its remote; ``None`` where it never met
        one."""
        layout = Layout(self.place.root)
        if not os.path.lexists(layout.travel):
            return None
        from wc_core.git import freshness, repository  # many stores never travel

        where = repository.find(self.place.root)
        return freshness.standing(layout, where, self.env)

    @property
    def source(self) -> IdSource:
        """The clock and the dice."""
        from wc_cli.store.writer import IdSource  # only writing needs it

        return IdSource(now_ms, random_bits)

    @property
    def store(self) -> str:
        """The store's folder for people: the home folder as ``~``."""
        home = self.env.get("HOME", "")
        root = self.place.root
        inside = home and root.startswith(f"{os.path.realpath(home)}/")
        return f"~{root[len(os.path.realpath(home)) :]}" if inside else root

    def ensure_store(self, *, anew: bool = False) -> bool:
        """Make or adopt the store of this place, if there is none yet; also
        ``anew`` where its folder is gone. Whether there was one."""
        if anew:
            self._place = discovery.find(self.cwd, self.env, missing_ok=True)
        place = self.place
        if place.exists:
            return True
        if place.kind == BRANCH_STORE:
            from wc_cli.branch import checkouts  # git runs only until the store exists

            root = checkouts.ensure_checkout(place, self.cwd, self.env)
            self._place = place._replace(root=root, exists=True)
            self._settings = self._identity = None
        return False

    def writer(self) -> StoreWriter:
        """The store, to write; made if it does not exist yet."""
        from wc_cli.store.writer import Author, StoreWriter  # only writing needs it

        self.ensure_store()
        where = self.place.repository
        branch = commit = ""
        if where is not None and where.branch != BRANCH:
            branch, commit = where.branch, where.commit
        author = Author(self.identity, branch, commit)
        writer = StoreWriter(self.place, author, self.settings, self.env)
        writer.prepare_store()
        self.remember()
        return writer

    def remember(self) -> None:
        """Keep who "me" is here, for the status line; a name or seat that was
        given for one command is not. Nothing where the store was never written
        to."""
        layout = Layout(self.place.root)
        once = self.asked.name or self.asked.seat
        if once or not os.path.isdir(layout.unsettled):
            return
        from wc_cli.store.localfiles import LocalFiles  # reading alone does without

        local = LocalFiles(self.reader.layout)
        where = self.place.repository
        worktree = where.worktree_id if where is not None else ""
        # A store that may only be read is no reason to fail a reader.
        with contextlib.suppress(WcError, OSError):
            local.remember_identity(
                self.identity, worktree, self.settings.directory, self.env
            )


def execute(declared: Declared, options: Options) -> None:
    """Carry out a command whose words are known."""
    asked = Asked(getattr(options, "as_name", ""), getattr(options, "seat", ""))
    env = dict(os.environ)
    # A hook is told where its client is, and must not fail where it was started.
    cwd = _cwd(otherwise="/" if getattr(options, "hook", "") else "")
    declared.run(Context(env, cwd, asked), options)


def _cwd(*, otherwise: str) -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        if otherwise:
            return otherwise
        raise NotFoundError(
            "The current folder does not exist any more.", "Change to another one."
        ) from None


def os_user(env: Mapping[str, str]) -> str:
    """The name of the OS user, whom containers and cron do not put into the
    environment."""
    if env.get("LOGNAME"):
        return env["LOGNAME"]
    import pwd  # the usual environment has USER

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def random_bits() -> int:
    """80 random bits."""
    return int.from_bytes(os.urandom(_RANDOM_BYTES))


def say(text: str) -> None:
    """A result, on standard output. Raises StorageError, BrokenPipeError."""
    _put(f"{text}\n" if text and not text.endswith("\n") else text)


def remark(text: str) -> None:
    """Something beside the result, on standard error. Whatever is quoted in
    it, a terminal finds nothing to obey."""
    try:
        sys.stderr.write(f"{clean(text)}\n")
        sys.stderr.flush()
    except OSError:
        return  # nobody is left to be told


def say_json(value: Any) -> None:
    """A result for programs: one line of JSON on standard output."""
    _put(f"{json_line(value)}\n")


def json_line(value: Any) -> str:
    """One line of JSON in which everything that `wc_core.text.clean` would
    take away is escaped: the same values, and nothing a terminal obeys."""
    from wc_core.threads.codec import dumps

    # A path may have bytes that are no text; JSON may not.
    line = dumps(value).encode(errors="replace").decode()
    if clean(line) == line:
        return line
    return "".join(one if clean(one) == one else json.dumps(one)[1:-1] for one in line)


def _put(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise StorageError(
            f"Standard output could not be written: {error.strerror}.",
            "The store is as it was; run it again with room for the answer.",
        ) from error


def discard_output() -> None:
    """Send what is left of standard output nowhere: the one who read it is
    gone, or its disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
