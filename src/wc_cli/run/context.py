"""The context of one command: its environment, folder, store and identity.

Each part is made on first use.
"""

from __future__ import annotations

import os
import pwd
from time import monotonic

from wc_cli.ledger import spawn
from wc_cli.ledger.clock import now_ms, random_bits
from wc_cli.run.options import ALWAYS, AUTO, NEVER, TextOptions
from wc_cli.run.output import Answer, begin_answer, remark
from wc_core.attention.status.places import home_of
from wc_core.base.errors import InvalidInputError, NotFoundError, WcError
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.lean import contextlib
from wc_core.base.names import unbracketed
from wc_core.base.phrases import with_home
from wc_core.base.text import one_line
from wc_core.ledger.configuration import preferences
from wc_core.ledger.git import contact, discovery, seats
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git.discovery import BRANCH_STORE, PLAIN
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads import settings
from wc_core.ledger.threads.reader import StoreReader
from wc_core.people.identity import resolve, userrecord
from wc_core.people.identity.resolve import Asked, Evidence
from wc_core.people.identity.viewer import Viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_cli.ledger.store.writer import IdSource, StoreWriter
    from wc_cli.run.options import Declared, Options
    from wc_core.attention.status.balls import Balls
    from wc_core.ledger.git.authorship import Authorship
    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.git.freshness import Standing
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.guidance import Guidance
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.ledger.threads.settings import Settings
    from wc_core.people.identity.resolve import Identity
    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.search.indexed import IndexedSearch

_NOT_ASKED = Asked()
# Bits of a file's mode.
_GROUP_WRITES, _OF_GROUP = 0o020, 0o070
# How long the first command in a clone waits for its remotes.
_CONTACT_SECONDS = 3.0


class Context:
    """The environment, folder, store and identity of one command.

    ``asked`` is the part of its command line about the speaker.
    """

    def __init__(
        self, env: Mapping[str, str], cwd: str, asked: Asked = _NOT_ASKED
    ) -> None:
        self.env = env if env.get("USER") else {**env, "USER": os_user(env)}
        self.cwd = cwd
        self.asked = asked
        # Whether this process was started for this command and ends with it.
        self.owns_process = False
        # The mask for the modes of files, if this command changed it.
        self.umask: int | None = None
        self._place: Place | None = None
        self._settings: Settings | None = None
        self._identity: Identity | None = None
        self._reader: StoreReader | None = None
        self._balls: Balls | None = None
        self._agent_above: str | None = None
        # Whether the topic was omitted, so that it is this worktree's thread.
        self.took_local_topic = False
        # Until when this command may wait for a first answer of a remote.
        self._contact_until = 0.0

    @property
    def place(self) -> Place:
        """The store that belongs to the folder. Raises what `discovery.find` raises."""
        if self._place is None:
            self._place = discovery.find(self.cwd, self.env)
        return self._place

    @property
    def settings(self) -> Settings:
        """The current settings."""
        if self._settings is None:
            self._settings = settings.load(self.place.root, self.env)
        return self._settings

    @property
    def identity(self) -> Identity:
        """The identity of the speaker."""
        if self._identity is None:
            self._identity = self.identify(self.asked)
        return self._identity

    @property
    def process_agent(self) -> str:
        """The agent whose process this is, whatever ``--as`` and variables say; empty
        for a person's."""
        # An agent may give its command a terminal, so its programs count there, too.
        evidence = self.evidence._replace(started_by=self._agent_among_programs)
        return resolve.process_agent(
            self.env, self.place.repository, self.settings, evidence
        )

    @property
    def is_person(self) -> bool:
        """Whether a person speaks here: under their own name, and not an agent's
        process in their place."""
        return self.identity.person and not self.process_agent

    def identify(self, asked: Asked) -> Identity:
        """The identity for a command line with these words."""
        return resolve.identify(
            asked, self.env, self.place.repository, self.settings, self.evidence
        )

    @property
    def evidence(self) -> Evidence:
        """The machine's information about the speaker."""
        return Evidence(
            lambda: userrecord.recorded_user(self.place.root, self.env),
            self._started_by,
        )

    def _started_by(self) -> str:
        """The agent among the programs that started this command, checked once; empty
        at a terminal."""
        if self._agent_above is None:
            self._agent_above = ""
            detects = self.env.get("WATERCOOLER_DETECT", "") != "off"
            if detects and not any(map(os.isatty, range(3))):
                # 1 ms, not needed at a terminal, or if a variable names the agent.
                from wc_cli.run import ancestors

                self._agent_above = ancestors.agent_above(self.env)
        return self._agent_above

    def _agent_among_programs(self) -> str:
        if self.env.get("WATERCOOLER_DETECT", "") == "off":
            return ""
        from wc_cli.run import ancestors  # as above

        return ancestors.agent_above(self.env)

    @property
    def reader(self) -> StoreReader:
        """The store, for reading. A missing store reads as empty; if only its branch
        exists, it is checked out first. The first call starts what is due.

        Raises NotFoundError if it cannot be checked out.
        """
        if self._reader is None:
            self.adopt()
            reader = StoreReader(self.place.root)
            self._note_seat()
            self._start_what_is_due(reader.layout)
            self._reader = reader
        return self._reader

    def _note_seat(self) -> None:
        """Note the name of the current worktree's seat, unless it is the last one that
        was noted there."""
        place, env = self.place, self.env
        rules = resolve.worktree_rules(place.repository, self.settings, env)
        name = unbracketed(resolve.winning_rule(rules).value)
        if place.exists and place.repository is not None and name:
            if seats.kept_names(place.repository)[-1:] == [name]:
                return
            from wc_cli.ledger.store import seatnames  # 8 ms, only for a new name

            seatnames.note(place.repository, name)

    def _start_what_is_due(self, layout: Layout) -> None:
        rules, follow = self.settings, self._follow_branch
        if rules.sync == "background":
            spawn.start_if_due(layout, rules, self.env, follow)
        elif rules.sync == "inline":
            spawn.follow_if_moved(layout, follow)

    @property
    def balls(self) -> Balls:
        """Who has which balls, as of when this command first asks."""
        if self._balls is None:
            from wc_core.attention.status.balls import Balls  # 1 ms, not for all

            self._balls = Balls(self.reader, self.settings.directory)
        return self._balls

    @property
    def viewer(self) -> Viewer:
        """The viewer of the threads."""
        return Viewer(self.identity, self.settings.directory)

    @property
    def overview(self) -> Overview:
        """The threads of the store as the viewer sees them."""
        # 1.1 ms, only to list threads
        from wc_core.reading.views.overview import Overview

        return Overview(self.reader, self.viewer, self.note_unindexed)

    def search_engine(self, overview: Overview) -> IndexedSearch:
        """The search engine for the threads of an overview, with the model with which
        searches go beyond words."""
        # 4 ms, only to search
        from wc_core.reading.meaning.asking import Meaning
        from wc_core.reading.views.search.indexed import IndexedSearch

        reader = overview.reader
        meaning = Meaning(reader, overview.keys, self.env, self._note_missing)
        return IndexedSearch(overview, meaning)

    def _note_missing(self, threads: int) -> None:
        """Have vectors made in the background, if enough threads lack them."""
        if self.settings.sync == "background":
            spawn.start_vectors_if_due(Layout(self.place.root), threads, self.env)

    def note_unindexed(self, count: int) -> None:
        """Have the index made in the background, if it lacks so many threads that
        reading them is slow."""
        if self.settings.sync == "background":
            spawn.start_index_if_due(Layout(self.place.root), count, self.env)

    @property
    def store_repository(self) -> Repository | None:
        """The repository that contains the store's folder, read again at each call. It
        is not the current folder's, because ``WATERCOOLER_DIR`` may name a store."""
        return repositories.find(self.place.root)

    @property
    def standing(self) -> Standing | None:
        """The store's state relative to its remote; ``None`` if it was never exchanged
        with one and no entries travel otherwise."""
        layout, checkout = Layout(self.place.root), self.store_repository
        signs = [layout.sync_state, layout.carried]
        if checkout is not None:
            signs.append(contact.path_of(checkout, contact.ASKED))
        if not any(map(os.path.lexists, signs)):
            return None
        from wc_core.ledger.git import freshness  # 1.4 ms, only after an exchange

        standing = freshness.standing(layout, checkout, self.env)
        is_shared = standing is not None and (standing.tracked or standing.travels)
        return standing if is_shared or os.path.lexists(layout.sync_state) else None

    @property
    def source(self) -> IdSource:
        """The source of ids: the clock and random bits."""
        from wc_cli.ledger.store.writer import IdSource  # 8 ms, only to write

        return IdSource(now_ms, random_bits)

    @property
    def store(self) -> str:
        """The store's folder for people, with ``~`` for the home folder."""
        return with_home(self.place.root, self.env)

    def adopt(self) -> None:
        """Check out the store's branch if it exists, local or fetched, and is not
        checked out anywhere, and prepare the store for the prompt. Raises NotFoundError
        if it cannot be checked out."""
        if self.place.exists or not self.place.branch_exists:
            return
        env = self.env
        until = self._fetching_until()
        if not until:
            # A partial clone would fetch missing objects, but no reader waits for the
            # network.
            self.env = {**env, "GIT_NO_LAZY_FETCH": "1"}
        elif self.place.repository is not None:
            from wc_cli.ledger.sync import ssh  # 1 ms, once for each clone

            with contextlib.suppress(OSError):  # the key is reported by an exchange
                command = ssh.ssh_command(self.place.repository, env)
                self.env = {**env, "GIT_SSH_COMMAND": command} if command else env
        try:
            self.ensure_store(until=until)
        except WcError as error:
            if until and self.place.repository is not None:
                from wc_cli.ledger.sync import (
                    firstcontact,
                )  # 30 ms, only after a failure

                firstcontact.record_failure(self.place.repository, env, str(error))
            raise NotFoundError(
                f"This repository has threads on its branch {BRANCH}, but they could "
                f"not be checked out: {error.__cause__ or error}",
                "Try again once that is fixed: wc init",
            ) from error
        finally:
            self.env = env
        # The next write prepares the rest, or reports why it cannot.
        with contextlib.suppress(WcError, OSError):
            self.writer()

    def _fetching_until(self) -> float:
        """Until when, on the monotonic clock, the threads that a partial clone lacks
        may be fetched: by the first command within the time for the first contact, not
        again soon after a failure. 0.0 if never."""
        repository = self.place.repository
        if repository is None or self.settings.sync == "off":
            return 0.0
        if contact.failed_lately(repository, now_ms()):
            return 0.0
        return self._contact_until or monotonic() + _CONTACT_SECONDS

    @property
    def other_homes(self) -> list[str]:
        """The checkouts of the store in other homes, which cannot be seen here."""
        repository = self.place.repository
        if repository is None or self.place.kind != BRANCH_STORE:
            return []
        checkouts = repositories.checkouts_of(repository, BRANCH)
        return [
            checkout.path
            for checkout in checkouts
            if discovery.is_of_another_home(checkout, self.env)
        ]

    def _follow_other_homes(self) -> None:
        """Follow the branch before a write, if another home can have moved it: then the
        entry comes after what was written there."""
        repository = self.place.repository
        if repository and len(repositories.checkouts_of(repository, BRANCH)) > 1:
            self._follow_branch()

    def _follow_branch(self) -> None:
        """Take over what another home has committed, such as that of the host of this
        container: no process here was told about it. If one is at work, it does so."""
        # 30 ms, only after another home has written
        from wc_cli.ledger.settle import settler

        with contextlib.suppress(WcError, OSError):
            settler.settle(self.place.root, self.env)

    def first_contact(self, seconds: float = 0.0) -> None:
        """Where there is no store, ask the remotes for threads: unless it was done
        lately, or in any case, for at most that many ``seconds``."""
        repository = self.place.repository
        if self.place.exists or repository is None or self.settings.sync == "off":
            return
        again = seconds > 0
        if not contact.is_due(self.place, self.env, now_ms(), again=again):
            return
        from wc_cli.ledger.sync import firstcontact  # 30 ms, once for each clone

        seconds = seconds or _CONTACT_SECONDS
        self._contact_until = monotonic() + seconds
        if firstcontact.ask(repository, self.env, seconds):
            self._place = self._settings = self._identity = self._reader = None
            if not self.place.branch_exists:
                self.ensure_store()  # a remote without a name has no such branch

    @property
    def unasked(self) -> str:
        """One line if a remote has not been asked for threads; usually empty."""
        return str(contact.unasked(self.place, self.env) or "")

    def ensure_store(self, *, missing_ok: bool = False, until: float = 0.0) -> bool:
        """Create or adopt the store of this place if there is none yet, with
        ``missing_ok`` even if its folder is missing. What a partial clone lacks is
        fetched ``until`` then at most. Returns whether there was one."""
        if missing_ok:
            self._place = discovery.find(self.cwd, self.env, missing_ok=True)
            self._reader = None
        place = self.place
        if place.exists:
            return True
        if place.kind == BRANCH_STORE:
            from wc_cli.ledger.branch import checkouts  # 15 ms, once for each store

            made = checkouts.ensure_checkout(place, self.cwd, self.env, until)
            self._place = place._replace(root=made.root, exists=True)
            if place.branch_exists and place.repository is not None:
                from wc_cli.ledger.store import durable  # imported by `checkouts`

                # There are threads, after all.
                with contextlib.suppress(OSError, WcError):
                    durable.remove(contact.path_of(place.repository, contact.UNASKED))
            self._settings = self._identity = self._reader = None
            for path, aside in made.set_aside:
                self._remark_set_aside(path, aside)
            if made.unwritten:
                remark(
                    f"note: {checkouts.unwritten_text(made.unwritten)}; see: wc doctor"
                )
            for path in self.other_homes:
                remark(f"note: {other_home_text(path)}")
        return False

    def _remark_set_aside(self, path: str, aside: str) -> None:
        """Report the new path of a folder that was in the store's place."""
        before, now = with_home(path, self.env), with_home(aside, self.env)
        remark(
            f"note: {before} belonged to an earlier repository here; it was set "
            f"aside as {now} (what is in it: wc doctor)"
        )

    def writer_of(self, draft: Draft) -> StoreWriter:
        """The store, for writing this entry. If there is none and the entry would be
        refused, none is created. Raises what `StoreWriter.write` would."""
        if not self.place.exists:
            self.first_contact()
            if not (self.place.exists or self.place.branch_exists):
                self._store_writer(None).check(draft)
        return self.writer()

    def writer(self, *, renews: bool = True, is_asked: bool = False) -> StoreWriter:
        """The store, for writing. Created if it does not exist, unless a remote has
        one. ``renews``: writing renews the speaker's claims, unless the command itself
        does. ``is_asked``: the command is the one that creates stores; no other creates
        one outside git for an agent, whose worktree this may have been."""
        is_first = not self.place.exists
        if is_first and self.place.kind == PLAIN and not is_asked:
            self._check_is_person()
        self.first_contact()
        if self.ensure_store() and self.settings.sync != "off":
            spawn.follow_if_moved(Layout(self.place.root), self._follow_other_homes)
        if is_first and self.unasked:
            remark(f"note: {self.unasked}")
        if self.owns_process:
            self._share_with_group()
        authorship = self._authorship()
        writer = self._store_writer(authorship)
        is_new = not os.path.isdir(writer.layout.unsettled)
        writer.prepare_store()
        if is_first and self.place.kind == PLAIN:
            where = one_line(self.store)
            remark(f"note: there is no git repository here; the threads are in {where}")
        if is_new:
            self.note_unindexed(len(writer.reader.topics()))
        if not self._is_recorded(authorship):
            self.record_user()
        self._remember_identity()
        self._note_seat()
        if renews:
            self.renew_claims()
        return writer

    def _check_is_person(self) -> None:
        """Raise NotFoundError for an agent."""
        if self.process_agent:
            raise NotFoundError(
                f"There is no git repository here, and no store: {self.cwd}",
                "Change to your worktree. If this was one, run in its repository: git "
                "worktree repair. To keep threads in this folder: wc init",
            )

    def _share_with_group(self) -> None:
        """Have what this command writes to a group's store stay open to the group.
        Git's own setting for that is core.sharedRepository."""
        with contextlib.suppress(OSError):
            if os.stat(self.place.root).st_mode & _GROUP_WRITES:
                mask = os.umask(0)
                os.umask(mask & ~_OF_GROUP)
                self.umask = mask if self.umask is None else self.umask

    def _store_writer(self, authorship: Authorship | None) -> StoreWriter:
        """A writer for the store, which need not exist yet."""
        # 8 ms, only to write
        from wc_cli.ledger.store.writer import Author, StoreWriter

        current = self.place.repository
        branch = commit = worktree = ""
        if current is not None and current.working_branch != BRANCH:
            branch, commit = current.working_branch, current.commit
            worktree = "" if branch or not current.top else home_of(current)
        author = Author(
            *(self.identity, branch, commit, authorship, worktree),
            process_agent=lambda: self.process_agent,
        )
        return StoreWriter(self.place, author, self.settings, self.env)

    def renew_claims(self) -> None:
        """Renew the speaker's claims in this worktree, if that is due."""
        repository = self.place.repository
        layout = Layout(self.place.root)
        if repository is None or not os.path.isdir(layout.held):
            return
        from wc_cli.edits.claims import renewal  # 2 ms, only where there are claims

        renewal.renew_if_due(layout, self.viewer, repository, self.env)

    def new_losses(self) -> list[str]:
        """The claims that the speaker has lost in this worktree; each only once."""
        repository = self.place.repository
        layout = Layout(self.place.root)
        if repository is None or not os.path.isdir(layout.held):
            return []
        from wc_cli.edits.claims import renewal  # 2 ms, only where there are claims

        return renewal.new_losses(layout, self.viewer, repository, self.env)

    def _authorship(self) -> Authorship | None:
        """The authorship of this command's commit; ``None`` for a store that wc does
        not commit."""
        if self.place.kind != BRANCH_STORE:
            return None
        from wc_cli.ledger.store import authors  # 1 ms, only to write

        layout = Layout(self.place.root)
        return authors.current(layout, self._configured_repository, self.env)

    @property
    def _configured_repository(self) -> Repository | None:
        """The repository whose configuration names the user: the worktree's, unless
        ``WATERCOOLER_DIR`` names another repository's store."""
        current = self.place.repository
        if self.env.get("WATERCOOLER_DIR"):
            checkout = self.store_repository
            if not (current and checkout and current.common == checkout.common):
                return checkout
        return current

    def _is_recorded(self, authorship: Authorship | None) -> bool:
        """Return whether the user on record is the author of commits. Then git's
        configuration, which takes 0.6 ms, need not be read."""
        if authorship is None:
            return False
        record = userrecord.recorded_user(self.place.root, {})
        return record.user == authorship.author and not record.systemwide

    def remember(self) -> None:
        """Record who "me" is in this worktree, and the user in git's
        configuration unless one is on record. Records nothing in a store that was never
        written to."""
        layout = Layout(self.place.root)
        if not os.path.isdir(layout.unsettled):
            return
        if not os.path.exists(private_layout(layout).git_user):
            self.record_user()
        self._remember_identity()

    def _remember_identity(self) -> None:
        """Record who "me" is in this worktree, except a name or seat given for
        a single command."""
        if self.asked.name or self.asked.seat:
            return
        # 0.7 ms, not needed before the first write.
        from wc_cli.ledger.store.localfiles import LocalFiles

        local = LocalFiles(Layout(self.place.root))
        current = self.place.repository
        worktree = current.worktree_id if current is not None else ""
        # Reading must not fail in a read-only store.
        with contextlib.suppress(WcError, OSError):
            local.remember_identity(
                self.identity, worktree, self.settings.directory, self.env
            )

    @property
    def former_targets(self) -> list[str]:
        """A line for each target of a person's notifications that went."""
        own = preferences.load(self.env)
        if not (own.former_targets and self.identity.person):
            return []
        from wc_core.attention.notify import targets  # 1 ms, only with targets

        return targets.former(own)

    def record_user(self) -> None:
        """Record the user in git's configuration in the store, unless it was never
        written to."""
        layout = Layout(self.place.root)
        if os.path.isdir(layout.unsettled):
            from wc_cli.ledger.store import authors  # 1 ms, seldom needed

            authors.record_user(layout, self._configured_repository, self.env)


def other_home_text(path: str) -> str:
    """A line about a checkout of the store in another home."""
    return (
        f"the threads are also checked out at {one_line(path)}, which cannot be seen "
        "here; what was written there is here once it is committed"
    )


def execute(declared: Declared, options: Options, occasion: str = "") -> None:
    """Carry out a command with parsed options. The repository's guidance for this
    ``occasion`` comes with the answer."""
    # A hook gets its client's folder as input. It must not fail because the folder in
    # which it was started is gone.
    cwd = _current_folder(otherwise="/" if getattr(options, "hook", "") else "")
    env = _with_globals(options, dict(os.environ), cwd)
    context = Context(env, cwd, Asked(options.as_name, options.seat))
    context.owns_process = True
    answer = Answer(lambda: _guidance_fields(context, occasion))
    answer.color = None if options.color == AUTO else options.color == ALWAYS
    begin_answer(answer)
    try:
        declared.run(context, options)
    except WcError:
        # Some commands answer, and then fail because of what they found.
        if answer.begun:
            _remark_guidance(answer, context, occasion)
        raise
    finally:
        if context.umask is not None:
            os.umask(context.umask)
    _remark_guidance(answer, context, occasion)


def _with_globals(options: Options, env: dict[str, str], cwd: str) -> dict[str, str]:
    """Return the environment with what the global options choose. Raises
    InvalidInputError if one is wrong or means nothing to the command, and
    NotFoundError."""
    if options.json and isinstance(options, TextOptions):
        raise InvalidInputError("This command has no answer in JSON.", "Omit --json.")
    if options.color not in {AUTO, ALWAYS, NEVER}:
        raise InvalidInputError(
            f"{options.color!r} is not a value of --color.",
            f"Use {AUTO}, {ALWAYS} or {NEVER}.",
        )
    if options.color != AUTO:
        env["NO_COLOR"] = "" if options.color == ALWAYS else "1"
    if options.store:
        env["WATERCOOLER_DIR"] = os.path.join(cwd, os.path.expanduser(options.store))
        if not os.path.isdir(env["WATERCOOLER_DIR"]):
            raise NotFoundError(
                f"--store names a folder that does not exist: {options.store}",
                "Correct it, or make the folder.",
            )
        # An agent's permission to run a command is for the threads of its worktree.
        if Context(env, cwd).process_agent:
            raise InvalidInputError(
                "An agent does not choose the store with --store.",
                "Set WATERCOOLER_DIR, so that your client asks whether you may.",
            )
    return env


def _remark_guidance(answer: Answer, context: Context, occasion: str) -> None:
    """Print the repository's guidance, unless it was in the JSON."""
    guidance = _guidance(context, occasion) if answer.beside is not None else None
    if guidance is not None:
        remark(guidance.text())


def _guidance_fields(context: Context, occasion: str) -> dict[str, Any]:
    guidance = _guidance(context, occasion)
    return {} if guidance is None else {"guidance": [guidance.to_json()]}


def _guidance(context: Context, occasion: str) -> Guidance | None:
    """The repository's guidance for an occasion; ``None`` without guidance or a
    store."""
    if not occasion:
        return None
    try:
        layout = Layout(context.place.root)
    except WcError:
        return None
    if not os.path.isdir(layout.guidance_folder):
        return None
    from wc_core.ledger import guidance  # 0.4 ms, only in a repository with guidance

    return guidance.for_occasion(layout, occasion)


def _current_folder(*, otherwise: str) -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        if otherwise:
            return otherwise
        raise NotFoundError(
            "The current folder no longer exists.", "Change to another one."
        ) from None


def os_user(env: Mapping[str, str]) -> str:
    """Return the name of the OS user. Containers and cron do not set it in the
    environment."""
    if env.get("LOGNAME"):
        return env["LOGNAME"]
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"
