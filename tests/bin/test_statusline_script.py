"""``bin/wc-statusline`` as a process, in real repositories, under every shell
of this machine, against its twin in Python.

What runs here is a copy of the script with no ``wc-cli`` beside it, so that every
line that is printed is the script's own. What it leaves to ``wc-cli`` is tested in
``tests/cli/commands/test_statusline.py``, where there are threads.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.core.status.placecases import CASES, WORKTREES, PlaceCase

from wc_core import agents, ulid
from wc_core.git import repository
from wc_core.git.discovery import find
from wc_core.identity.resolve import (
    Asked,
    Identity,
    identify,
)
from wc_core.layout import Layout
from wc_core.names import Directory, Name, parse
from wc_core.status import conflictmarks, elsewhere, pins
from wc_core.status.conflictmarks import ConflictMark
from wc_core.status.files import (
    MAIN_WORKTREE,
    StatusView,
    asked_name,
    identity_files,
    status_files,
    who_name,
)
from wc_core.status.line import (
    NOT_CHECKED_OUT,
    STORE_MISSING,
    STORE_MOVED,
    LinePlace,
    StatusRow,
    status_line,
)
from wc_core.status.look import LineStyle, isolate_rtl
from wc_core.status.places import Surroundings, worktree_places
from wc_core.threads.model import CLOSED, STATUSES, State
from wc_core.threads.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCRIPT = Path(__file__).resolve().parents[2] / "bin" / "wc-statusline"
THREADS = "watercooler/threads"
SHELLS = {
    "dash": ("dash",),
    "bash": ("bash",),
    "bash-posix": ("bash", "--posix"),
    "busybox": ("busybox", "sh"),
    "zsh": ("zsh", "-f"),
    "zsh-sh": ("zsh", "--emulate", "sh", "-f"),
}
TIMEOUT = 20.0
PAT = Name("Claude Code", "", "pat")


Shells = tuple[tuple[str, ...], ...]


def _known() -> Shells:
    """The shells of this machine: whatever is asked of one is asked of all, which
    must answer the same."""
    return tuple(one for one in SHELLS.values() if shutil.which(one[0]))


@pytest.fixture
def shell() -> Shells:
    return _known()


@pytest.mark.parametrize("name", sorted(SHELLS))
def test_the_shells_of_this_machine(name: str) -> None:
    command = SHELLS[name]
    if shutil.which(command[0]) is None:
        assert command[0] not in {"dash", "bash"}
        pytest.skip(f"{command[0]} IS NOT INSTALLED: the script is untested under it")
    done = subprocess.run([*command, "-c", "echo 1"], capture_output=True, check=True)
    assert done.stdout == b"1\n"


class World(NamedTuple):
    """A home folder, a repository in it, and its store in another folder."""

    home: Path

    @property
    def repo(self) -> Path:
        return self.home / "app"

    @property
    def script(self) -> Path:
        """A copy of the script that finds no ``wc-cli``."""
        copy = self.home.parent / "alone" / SCRIPT.name
        if not copy.exists():
            copy.parent.mkdir()
            shutil.copy(SCRIPT, copy)
        return copy

    @property
    def store(self) -> Path:
        return self.home / ".watercooler" / "worktrees" / "watercooler-app-1a2b"

    def env(self, **more: str) -> dict[str, str]:
        path = os.environ["PATH"]
        base = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8"}
        return {**base, "WATERCOOLER_DETECT": "off", **more}

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        settled = {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "pat",
            "GIT_AUTHOR_EMAIL": "pat@example.org",
            "GIT_COMMITTER_NAME": "pat",
            "GIT_COMMITTER_EMAIL": "pat@example.org",
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.repo,
            env=self.env(**settled),
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def run(
        self,
        cwd: Path,
        *arguments: str,
        shell: Shells = (("sh",),),
        stdin: bytes | None = None,
        **env: str,
    ) -> str:
        """What the script prints, the same in each shell; it must exit 0 and be
        silent otherwise."""
        started = [
            subprocess.Popen(
                [*one, str(self.script), *arguments],
                cwd=cwd,
                env=self.env(**env),
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for one in shell
        ]
        said = {}
        for one, process in zip(shell, started, strict=True):
            with process:
                output, complaint = process.communicate(stdin, timeout=TIMEOUT)
            assert (process.returncode, complaint) == (0, b""), one
            said[one] = output.decode()
        first = said[shell[0]]
        assert said == dict.fromkeys(shell, first), said
        assert first == "" or first.endswith("\n")
        return first.removesuffix("\n")


def make(home: Path) -> World:
    world = World(home)
    world.repo.mkdir(parents=True)
    world.git("init", "-q", "--template=", "-b", "main")
    world.git("commit", "-q", "--allow-empty", "-m", "start")
    tree = world.git("hash-object", "-t", "tree", "-w", os.devnull)
    world.git("branch", THREADS, world.git("commit-tree", tree, "-m", "store"))
    world.git("worktree", "add", "-q", str(world.store), THREADS)
    return world


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make(tmp_path_factory.mktemp("template") / "home")


@pytest.fixture
def world(template: World, tmp_path: Path) -> World:
    """A copy, git's records of where things are included."""
    world = World(tmp_path / "home")
    shutil.copytree(template.home, world.home)
    records = (world.store / ".git", *world.repo.glob(".git/worktrees/*/gitdir"))
    for one in records:
        text = one.read_text()
        one.write_text(text.replace(str(template.home), str(world.home)))
    return world


def put(store: Path, contents: dict[str, bytes]) -> None:
    for path, content in contents.items():
        target = store / ".local" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def state(topic: str, ball: str | None, at: int = 1, **more: Any) -> State:
    return State(topic, ball=ball, since=ulid.encode(at), **more)


def write(store: Path, *states: State, new: dict[str, int] | None = None) -> None:
    for one in states:
        put(store, status_files(StatusView(one, new or {})))


def be(
    store: Path,
    who: Name = PAT,
    worktree: str = MAIN_WORKTREE,
    *,
    source: str = "user",
    branch: str | None = None,
) -> None:
    is_person = source in {"user", "git user"}
    identity = Identity(who, source, person=is_person, branch=branch)
    put(store, identity_files(worktree, identity, Directory(), {source: "1"}))


def named(name: Name) -> Identity:
    """An identity out of WATERCOOLER_AGENT."""
    return Identity(name, "WATERCOOLER_AGENT")


# --- the same text as the twin ------------------------------------------------

TOPICS = st.one_of(
    st.sampled_from(
        ["feature-auth", "auth", "main", "fix", "%2E%2E", "zähler", "\x1bx", "שלום"]
    ),
    st.text("abcäß中ẹ∞😀مа-_.", min_size=1, max_size=30),
    st.text(max_size=300),
)
HOLDERS = st.one_of(
    st.none(),
    st.sampled_from(
        [
            "claude (pat)",
            "Claude Code@fix (Pat)",
            "Claude  Code",
            "claude-code@FIX",
            "Codex",
            "codex@fix(sam)",
            "Codex@main (sam)",
            "Codex@app-wt-fix",
            "Codex@feature/auth.3f2a1b (pat)",
            "codex (pat@fix)",
            "",
            "   ",
            "=free",
            "..",
            "*",
            "a/b",
            "../../etc",
            "%",
            "\x1b]0;pwned\x07",
            "\x9b31m red",
            "line\nbreak",
            "Zoë",
            "دانا",
            "x" * 400,
            "é" * 300,
        ]
    ),
    st.text(max_size=40),
)
BRANCHES = st.sampled_from(
    [
        *("", "main", "feature/auth", "feature-auth", "auth", "feature", "ünï/x"),
        *("../../x", "/etc", "a//b", "a/.t/b", "x\ny", chr(0xD800), "b" * 300),
    ]
)
WAITS = ((), (), (), ("api",), ("api", "db"), ("odd \x1b[1m one",), ("語", "x"))
COUNTS = st.integers(0, 999)
CONFLICTS = st.sampled_from(
    ["", "", "auth.py with Codex@review", "a.py with Zoë +2", "שלום.py with Codex"]
)


@st.composite
def views(draw: st.DrawFn) -> list[StatusView]:
    topics = draw(st.lists(TOPICS, max_size=6, unique=True))
    people = ["claude (pat)", "claude@fix (pat)", "Codex", "*", "Zoë (z)", "s" * 250]
    made = []
    for position, topic in enumerate(topics):
        new = draw(st.dictionaries(st.sampled_from(people), COUNTS))
        keys = {Directory().key(parse(name)): count for name, count in new.items()}
        since = draw(st.sampled_from([ulid.encode(draw(COUNTS)), "", "torn", "0"]))
        one = State(
            topic,
            status=draw(st.sampled_from([*STATUSES, "", "odd \x1b[1m one"])),
            ball=draw(HOLDERS),
            since=since,
            last_id=ulid.encode(position),
            entry_count=draw(COUNTS),
            branch=draw(BRANCHES),
        )
        made.append(StatusView(one, keys, waits=draw(st.sampled_from(WAITS))))
    return made


class Who(NamedTuple):
    """How the script learns who it works for."""

    name: Name | None = None
    agent: str = ""
    written: bool = False
    variable: str = ""


WHOS = st.sampled_from(
    [
        Who(),
        Who(PAT, written=True),
        Who(Name("Claude Code", "fix", "pat"), written=True),
        Who(Name("Codex"), "codex", written=True),
        Who(Name("Zoë", "", "z"), "Zoë (Z)", written=True),
        Who(Name("*"), " * ", written=True),
        Who(Name("a/b"), "A/b", written=True),
        Who(Name("Codex"), "codex", written=True, variable="CLAUDECODE"),
        Who(PAT, written=True, variable="CLAUDECODE"),
        Who(Name("opencode", "fix", "pat"), written=True, variable="OPENCODE"),
        Who(Name("Claude Code", "fix", "pat"), "claude@FIX(pat)", written=True),
        Who(parse("codex@"), "codex\t@ ", written=True),
        Who(parse("(x)"), "(X)", written=True),
        Who(parse("@a@b"), "@a@b", written=True),
        Who(parse("Gemini@s@t (u)(v)"), "Gemini@s@t (u)(v)", written=True),
    ]
)
LOOKS = st.builds(
    LineStyle,
    columns=st.one_of(st.just(0), st.integers(1, 70)),
    ascii=st.booleans(),
    color=st.booleans(),
    rows=st.just(0),
    links=st.just(""),
    format=st.just(""),
)
PLACES = st.sampled_from(["main", "feature/auth", "auth", "detached"])


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = make(tmp_path_factory.mktemp("shared") / "home")
    world.git("worktree", "add", "-q", "-b", "feature/auth", "../app-wt-feature-auth")
    world.git("worktree", "add", "-q", "-b", "other", "../app-wt-auth")
    world.git("worktree", "add", "-q", "--detach", "../app-wt-fix")
    return world


def _place(world: World, name: str) -> tuple[Path, str, Surroundings]:
    """A folder, its worktree's id, and what the twin has to know of it."""
    folder = world.repo
    if name != "main":
        change = {"feature/auth": "feature-auth", "auth": "auth", "detached": "fix"}
        folder = world.home / f"app-wt-{change[name]}"
    found = repository.find(str(folder))
    assert found is not None
    here = Surroundings(worktree_places(found))
    return folder, found.worktree_id or MAIN_WORKTREE, here


def _rows(made: Iterable[StatusView], who: Who) -> Iterator[StatusRow]:
    key = Directory().key(who.name) if who.name else None
    for view in made:
        known = view.new.get(key) if key is not None else None
        if known is None and who.written:
            known = view.state.entry_count
        yield StatusRow(view.state, known, view.waits)


def _options(look: LineStyle) -> list[str]:
    return ["--ascii"] * look.ascii + ["--color=always"] * look.color


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    made=views(),
    who=WHOS,
    look=LOOKS,
    place=PLACES,
    kept=st.tuples(CONFLICTS, st.none() | st.integers(0, 5)),
)
@example(
    [StatusView(state("main", "codex", 2, status="IN_REVIEW"), {"codex": 3})],
    Who(Name("Codex"), "codex", written=True),
    LineStyle(24),
    "main",
    ("", None),
)
@example([], Who(), LineStyle(24), "main", ("auth.py with Codex@review", None))
@example(
    [
        StatusView(state("main", "codex", 2), {}),
        StatusView(state("other", "codex@main", 3), {}),
        StatusView(state("third", "claude@app-wt-fix", 3), {}),
    ],
    Who(Name("Claude", "app-wt-fix"), "claude@app-wt-fix", written=True),
    LineStyle(),
    "main",
    ("", 1),
)
def test_says_the_same_as_the_twin(
    shared: World,
    made: list[StatusView],
    who: Who,
    look: LineStyle,
    place: str,
    kept: tuple[str, int | None],
) -> None:
    conflict, pinned = kept
    cwd, worktree, around = _place(shared, place)
    shutil.rmtree(shared.store / ".local", ignore_errors=True)
    (shared.store / ".local" / "status").mkdir(parents=True)
    if pinned is not None and pinned < len(made):
        topic = made[pinned].state.topic
        made[pinned] = made[pinned]._replace(pins=(pins.pin_place(worktree),))
        put(shared.store, {pins.pin_file(worktree): f"{topic}\n".encode()})
        if made[pinned].state.status != CLOSED:
            around = around._replace(pinned=topic)
    here = LinePlace(around._replace(me=who.name), conflict=conflict)
    for view in made:
        put(shared.store, status_files(view))
    if conflict:
        put(shared.store, {f"hot/{worktree}": ConflictMark(conflict).encode()})
    env: dict[str, Any] = {who.variable: "1"} if who.variable else {}
    if who.agent:
        env["WATERCOOLER_AGENT"] = who.agent
    if who.written and who.name:
        rule = "WATERCOOLER_AGENT" if who.agent else who.variable or "user"
        me = Identity(who.name, rule)
        put(shared.store, identity_files(worktree, me, Directory(), env))
    if look.columns:
        env["COLUMNS"] = str(look.columns)
    put(shared.store, {"line/stamp": b"1a2b\n"})
    said = shared.run(cwd, *_options(look), shell=_known(), **env)
    again = shared.run(cwd, *_options(look), **env)
    assert again == said
    rows = [*_rows(made, who)]
    expected = (
        "" if _is_left_to_the_twin(rows, here, look) else status_line(rows, here, look)
    )
    assert said == expected, (said, expected)


def _is_left_to_the_twin(
    rows: list[StatusRow], here: LinePlace, look: LineStyle
) -> bool:
    """Whether the script cannot work out the line by itself: it has text written
    from right to left, or there is too little room and not all of it is ASCII, or
    not even room for its beginning."""
    whole = status_line(rows, here, LineStyle(ascii=look.ascii))
    if isolate_rtl("א")[0] in whole:
        return True
    if not look.columns or len(whole.encode()) <= look.columns:
        return False
    plain = whole.replace(" · ", " - ").replace("⚠", "!!")
    if plain.startswith("🎾"):
        plain = f"[]{plain[1:]}"
    if not plain.isascii() or len(plain) <= look.columns:
        return not plain.isascii()
    heads = r"\[\*?\] you |.* has the ball |anyone can take |waits for .*? (?=- )"
    head = re.match(heads, plain)
    return head is None or len(head[0].rstrip()) > look.columns


# --- what it says ---------------------------------------------------------------


def test_examples(world: World, shell: Shells) -> None:
    be(world.store)
    new = {"claudecode(pat)": 2}

    def says(*arguments: str) -> str:
        return world.run(world.repo, *arguments, shell=shell)

    assert says() == ""
    write(world.store, state("elsewhere", "Codex", branch="other"))
    assert says() == ""
    write(world.store, state("spare", None, 2, branch="main"), new=new)
    assert says() == "anyone can take · spare · 2 new"
    write(world.store, state("feature-auth", "Codex", 3, branch="main"))
    theirs = "Codex has the ball · feature-auth · +1"
    assert says() == theirs
    write(world.store, state("far", "Claude", 4, branch="other"))
    assert says() == f"{theirs} · 1 for you elsewhere"
    write(world.store, state("far-too", "Claude", 5))
    assert says() == f"{theirs} · 2 for you elsewhere"
    assert says("--color=always") == f"\033[1;33m{theirs} · 2 for you elsewhere\033[0m"
    away = world.home / "away"
    world.git("worktree", "add", "-q", "-b", "away", str(away))
    be(world.store, worktree="away")
    assert world.run(away, shell=shell) == "🎾 2 waiting for you elsewhere"
    here = state("main", "claude (pat)", 6, status="IN_REVIEW")
    write(world.store, here, new=new)
    assert says() == "🎾 you · main · IN_REVIEW · 2 new · 2 elsewhere"
    write(world.store, state("older", "Claude", 1, branch="main"))
    assert says() == "🎾 you · older · +1 · 2 elsewhere"
    assert says("--ascii") == "[*] you - older - +1 - 2 elsewhere"
    assert says("--frob", "--color=always", "extra") == (
        "\033[1;33m🎾 you · older · +1 · 2 elsewhere\033[0m"
    )


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A repository with the worktrees of the table of places."""
    world = make(tmp_path_factory.mktemp("trees") / "home")
    for folder, branch in WORKTREES.items():
        if folder != "app":
            where = ["-b", branch] if branch else ["--detach"]
            world.git("worktree", "add", "-q", *where, f"../{folder}")
    return world


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_line_of_each_case(trees: World, shell: Shells, case: PlaceCase) -> None:
    shutil.rmtree(trees.store / ".local", ignore_errors=True)
    write(trees.store, *case.threads, new={Directory().key(case.me): 0})
    (trees.store / ".local/status").mkdir(parents=True, exist_ok=True)
    worktree = MAIN_WORKTREE if case.folder == "app" else case.folder
    source = "CLAUDECODE" if case.me.tag else "user"
    env: dict[str, Any] = {"CLAUDECODE": "1"} if case.me.tag else {}
    folder = trees.home / case.folder
    be(trees.store, case.me, worktree, source=source)
    assert trees.run(folder, shell=shell, **env) == case.line


def test_the_options(world: World) -> None:
    be(world.store)
    write(world.store, state("main", "Claude"))
    plain, ascii_, bright = (
        "🎾 you · main",
        "[*] you - main",
        "\033[1;33m🎾 you · main\033[0m",
    )
    cases: list[tuple[list[str], dict[str, Any], str]] = [
        (["--color=auto"], {}, plain),
        (["--stdin"], {}, bright),
        (["--stdin", "--color=never"], {}, plain),
        (["--stdin"], {"NO_COLOR": "1"}, plain),
        (["--stdin"], {"NO_COLOR": ""}, bright),
        (["--stdin", "--color=sometimes"], {}, bright),
        ([], {"WATERCOOLER_ASCII": "1"}, ascii_),
        ([], {"WATERCOOLER_ASCII": "0"}, plain),
        ([], {"COLUMNS": "99999"}, plain),
        ([], {"COLUMNS": "0"}, plain),
        ([], {"COLUMNS": "13"}, plain),
        ([], {"COLUMNS": "8"}, "🎾 you"),
        ([], {"COLUMNS": "5"}, ""),
        ([], {"COLUMNS": "wide"}, ""),
        ([], {"COLUMNS": "08"}, ""),
        (["--chain"], {}, plain),
        # What only wc-cli knows is left out where there is none.
        (["--rows"], {}, plain),
        (["--rows=3", "--links=page"], {}, plain),
        (["--format={topic}!"], {}, plain),
        ([], {"WATERCOOLER_FORMAT": "<{topic}>"}, plain),
    ]
    for arguments, env, expected in cases:
        assert world.run(world.repo, *arguments, **env) == expected


# --- who I am ---------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["", "  ", "\t\n"])
def test_a_blank_agent_is_none(world: World, shell: Shells, agent: str) -> None:
    be(world.store)
    write(world.store, state("main", "Claude"))
    assert (
        world.run(world.repo, shell=shell, WATERCOOLER_AGENT=agent) == "🎾 you · main"
    )


def test_the_script_looks_at_the_same_variables() -> None:
    [block] = re.findall(
        r"# BEGIN agents.*?\n(.*?)# END agents", SCRIPT.read_text(), re.DOTALL
    )
    found = re.findall(r"^\$\{(\w+):\+(=\w+) \}\\$", block, re.MULTILINE)
    every = dict.fromkeys((variable for variable, _ in agents.VARIABLES), "1")
    assert found == [(variable, who_name(variable, every)) for variable in every]
    # What only a later part of the script understands.
    assert block.endswith(
        f'${{{agents.CONVENTION}:+?}}${{{agents.OLDER_CONVENTION[0]}:+?}}=default"\n  '
    )
    asked = re.findall(r"\$\{(\w+?)[:-]", _function("seated"))
    assert [one for one in asked if one.endswith("_ID")] == [*agents.SESSION_VARIABLES]


def test_no_function_is_defined_twice() -> None:
    names = re.findall(r"^ *(\w+)\(\)", SCRIPT.read_text(), re.MULTILINE)
    assert sorted(names) == sorted(set(names))


def _function(name: str) -> str:
    """The definition of a function in the script."""
    [found] = re.findall(
        rf"^{name}\(\) {{\n.*?^}}$", SCRIPT.read_text(), re.MULTILINE | re.DOTALL
    )
    return str(found)


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({"AI_AGENT": "claude-code_2-1-330_agent"}, "Claude Code"),
        ({"AI_AGENT": "openhands"}, "OpenHands"),
        ({"AI_AGENT": "my-bot@1.2/3"}, "my-bot"),
        ({"AI_AGENT": "true", "AGENT": "amp"}, "Amp"),
        ({"AI_AGENT": "1", "AGENT": "1"}, ""),
        ({"AI_AGENT": "My Bot"}, ""),
        ({"AI_AGENT": "none_2"}, ""),
        ({"AI_AGENT": "x" * 41}, ""),
        ({"AI_AGENT": "pi", "CLAUDECODE": "1"}, "Claude Code"),
        # Codex that Claude Code runs; not the other way round.
        ({"CLAUDECODE": "1", "CODEX_THREAD_ID": "019a"}, "Codex"),
    ],
)
def test_the_script_takes_the_agent_that_wc_takes(
    world: World, env: dict[str, str], name: str
) -> None:
    who = identify(Asked(), env | {"USER": "Pat"}, None, Settings())
    assert who.name.agent == (name or "Pat")
    prompt: dict[str, Any] = {**env}
    put(world.store, identity_files(MAIN_WORKTREE, who, Directory(), env))
    write(world.store, state("main", str(who.name)))
    assert world.run(world.repo, **prompt) == "🎾 you · main"


@pytest.mark.parametrize(
    "seat", ["left", "session", "Left", "fix/ui", "a b", "x" * 65, "*", "é"]
)
def test_seats_of_one_agent_in_one_worktree(
    world: World, shell: Shells, seat: str
) -> None:
    """Two holders; the one that looks is known by its seat, or its session."""
    base = {"USER": "pat", "CLAUDECODE": "1", "WATERCOOLER_SEAT": seat}
    sessions = [
        base | {"CLAUDE_CODE_SESSION_ID": f"3f2a-0000-{end}"}
        for end in ("aaaaaa", "bbbbbb")
    ]
    if seat != "session":
        sessions[1]["WATERCOOLER_SEAT"] = "right"
    found = [identify(Asked(), env, None, Settings()) for env in sessions]
    for env, who in zip(sessions, found, strict=True):
        put(world.store, identity_files(MAIN_WORKTREE, who, Directory(), env))
    write(world.store, state("main", str(found[1].name)))
    lines = []
    for env in sessions:
        prompt: dict[str, Any] = {**env}
        lines.append(world.run(world.repo, shell=shell, **prompt))
    assert lines == [f"{found[1].name} has the ball · main", "🎾 you · main"]


@pytest.mark.parametrize(("variable", "agent"), agents.VARIABLES)
def test_an_agent_and_a_person_in_one_worktree(
    world: World, shell: Shells, variable: str, agent: str
) -> None:
    """The last one who ran wc here need not be the one who looks."""
    write(world.store, state("main", f"{agent} (pat)"))
    be(world.store, Name("Pat"))
    be(world.store, Name(agent, "", "pat"), source=variable)
    theirs = f"{agent} (pat) has the ball · main"
    assert world.run(world.repo, shell=shell) == theirs
    mine: dict[str, Any] = {variable: "1"}
    assert world.run(world.repo, shell=shell, **mine) == "🎾 you · main"
    said = world.run(world.repo, shell=shell, WATERCOOLER_AGENT=" ", **mine)
    assert said == "🎾 you · main"
    assert world.run(world.repo, shell=shell, WATERCOOLER_AGENT="zed", **mine) == theirs
    mine[variable] = ""
    assert world.run(world.repo, shell=shell, **mine) == theirs


def test_a_person_is_the_same_one_in_all_worktrees(world: World, shell: Shells) -> None:
    world.git("worktree", "add", "-q", "-b", "fix", "../fix")
    write(world.store, state("fix", "Pat"), new={"pat": 2})
    fix = world.home / "fix"
    assert world.run(fix, shell=shell) == "Pat has the ball · fix"
    be(world.store, Name("Pat"))
    assert world.run(fix, shell=shell) == "🎾 you · fix · 2 new"
    # An agent is not: it has a seat.
    be(world.store, Name("Pat"), source="CLAUDECODE")
    assert world.run(fix, shell=shell, CLAUDECODE="1") == "Pat has the ball · fix"
    be(world.store, Name("Sam"), "fix")
    assert world.run(fix, shell=shell) == "Pat has the ball · fix"


@pytest.mark.parametrize("was", ["f[2]", "f2/a", ""])
def test_a_seat_is_left_with_its_branch(world: World, shell: Shells, was: str) -> None:
    world.git("worktree", "add", "-q", "-b", "other", "../tree")
    tree = world.home / "tree"
    if was:
        # What git itself would not take must not be a pattern to the script.
        head = world.repo / ".git/worktrees/tree/HEAD"
        head.write_text(f"ref: refs/heads/{was}\n")
    else:
        world.git("checkout", "-q", "--detach", cwd=tree)
    seat = was or "tree"
    who = Name("Codex", seat, "pat")
    be(world.store, who, "tree", source="CODEX_SANDBOX", branch=was)
    mine = state("one", str(who), 1)
    write(world.store, mine, new={"codex(pat)": 5})

    def says() -> str:
        return world.run(tree, shell=shell, CODEX_SANDBOX="1")

    assert says() == "🎾 you · one"
    world.git("symbolic-ref", "HEAD", "refs/heads/f2", cwd=tree)
    assert says() == ""
    write(world.store, state("two", "Codex (pat)", 2, branch="f2"), new={str(who): 5})
    assert says() == "🎾 you · two"
    # A seat that came from elsewhere stays.
    be(world.store, who, "tree", source="CODEX_SANDBOX")
    assert says() == "🎾 you · one · +1"


# --- where I am -------------------------------------------------------------------


def test_a_subfolder_and_a_symbolic_link(world: World, shell: Shells) -> None:
    write(world.store, state("main", "Codex"))
    deep = world.repo / "src" / "deep down\n here \n"
    deep.mkdir(parents=True)
    link = world.home / "link"
    link.symlink_to(deep)
    for cwd in (world.repo, deep, link):
        said = world.run(cwd, shell=shell, PWD=str(cwd))
        assert said == "Codex has the ball · main"


def test_linked_worktrees_share_the_store(world: World, shell: Shells) -> None:
    write(world.store, state("feature-auth", "Codex"), state("y-1", "Cursor"))
    world.git("worktree", "add", "-q", "-b", "feature/auth", "../with space")
    world.git("worktree", "add", "-q", "-b", "other", "../app-wt-y-1")
    world.git("worktree", "add", "-q", "--detach", "../lost")
    be(world.store, Name("Codex"), "with-space")
    for folder, expected in [
        ("with space", "🎾 you · feature-auth"),
        ("app-wt-y-1", "Cursor has the ball · y-1"),
        ("lost", ""),
    ]:
        assert world.run(world.home / folder, shell=shell) == expected


def test_a_path_with_newlines(tmp_path: Path, shell: Shells) -> None:
    world = make(tmp_path / "ho\nme \n")
    write(world.store, state("fix", "Codex"))
    world.git("worktree", "add", "-q", "-b", "fix", "../linked\ntree\n\n")
    linked = world.home / "linked\ntree\n\n"
    (linked / "sub").mkdir()
    assert world.run(linked / "sub", shell=shell) in {"Codex has the ball · fix", ""}
    world.git("worktree", "add", "-q", "-b", "fix2", "../two\nlines")
    write(world.store, state("fix2", "Codex"))
    said = world.run(world.home / "two\nlines", shell=shell)
    assert said == "Codex has the ball · fix2"


def test_relative_links_of_newer_git(world: World, shell: Shells) -> None:
    write(world.store, state("fix", "Codex"))
    linked = world.home / "fix"
    world.git("worktree", "add", "-q", "-b", "fix", str(linked))
    (linked / ".git").write_text("gitdir: ../app/.git/worktrees/fix\n")
    admin = world.repo / ".git" / "worktrees" / world.store.name
    (admin / "gitdir").write_text(f"{os.path.relpath(world.store, admin)}/.git\n")
    back = os.path.relpath(admin, world.store)
    (world.store / ".git").write_text(f"gitdir: {back}\n")
    for cwd in (linked, world.repo):
        write(world.store, state("main", "Codex"))
        assert (
            world.run(cwd, shell=shell)
            == f"Codex has the ball · {'fix' if cwd == linked else 'main'}"
        )


def test_a_detached_head_still_has_balls(world: World, shell: Shells) -> None:
    be(world.store)
    write(world.store, state("main", "Claude"))
    world.git("checkout", "-q", "--detach")
    said = world.run(world.repo, shell=shell)
    assert said == "🎾 main waits for you elsewhere"


@pytest.mark.parametrize("how", ["--merge", "--apply"])
def test_a_branch_that_is_being_rebased(world: World, shell: Shells, how: str) -> None:
    be(world.store)
    write(world.store, state("fix", "Claude", branch="topic/x"))
    world.git("worktree", "add", "-q", "-b", "topic/x", "../fix")
    fix = world.home / "fix"
    for folder, text in ((fix, "theirs"), (world.repo, "ours")):
        (folder / "file").write_text(text)
        world.git("add", "file", cwd=folder)
        world.git("commit", "-q", "-m", "file", cwd=folder)
    stopped = subprocess.run(
        ["git", "-c", "user.name=p", "-c", "user.email=p@x", "rebase", how, "main"],
        cwd=fix,
        env=world.env(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1"),
        capture_output=True,
        check=False,
    )
    assert stopped.returncode == 1
    where = repository.find(str(fix))
    assert where is not None
    assert (where.branch, where.rebased) == ("", "topic/x")
    assert world.run(fix, shell=shell) == "🎾 you · fix"
    world.git("rebase", "--abort", cwd=fix)
    assert where.rebased == ""
    assert world.run(fix, shell=shell) == "🎾 you · fix"


def test_a_bare_repository(tmp_path: Path, shell: Shells) -> None:
    world = make(tmp_path / "home")
    write(world.store, state("main", "Codex"))
    bare = world.home / "app.git"
    world.git("clone", "-q", "--bare", str(world.repo), str(bare))
    store = world.home / "store"
    world.git("worktree", "add", "-q", str(store), THREADS, cwd=bare)
    write(store, state("main", "Cursor"), state("fix", "Gemini"))
    world.git("worktree", "add", "-q", "-b", "fix", str(world.home / "fix"), cwd=bare)
    assert world.run(bare, shell=shell) == "Cursor has the ball · main"
    assert world.run(bare / "refs", shell=shell) == "Cursor has the ball · main"
    assert world.run(world.home / "fix", shell=shell) == "Gemini has the ball · fix"


def test_the_store_itself(world: World, shell: Shells) -> None:
    write(world.store, state("x", "Codex", branch=THREADS))
    assert world.run(world.store, shell=shell) == "Codex has the ball · x"


def test_the_main_worktree_is_the_store(tmp_path: Path, shell: Shells) -> None:
    world = make(tmp_path / "home")
    world.git("worktree", "remove", "--force", str(world.store))
    world.git("checkout", "-q", THREADS)
    world.git("worktree", "add", "-q", "-b", "fix", "../fix")
    write(world.repo, state("fix", "Codex"), state("x", "Cursor", branch=THREADS))
    assert world.run(world.home / "fix", shell=shell) == "Codex has the ball · fix"
    assert world.run(world.repo, shell=shell) == "Cursor has the ball · x"


def test_a_store_in_the_tree_comes_first(world: World, shell: Shells) -> None:
    write(world.store, state("main", "Codex"))
    tree = world.repo / ".watercooler"
    sub = world.repo / "sub"
    sub.mkdir()
    tree.mkdir()
    assert world.run(sub, shell=shell) == "Codex has the ball · main"
    (tree / "graph").mkdir()
    assert world.run(sub, shell=shell) == ""
    write(tree, state("main", "Claude"))
    be(tree)
    assert world.run(sub, shell=shell) == "🎾 you · main"
    chosen = world.run(sub, shell=shell, WATERCOOLER_DIR=str(world.store))
    assert chosen == "Codex has the ball · main"


def test_a_store_in_the_tree_of_a_linked_worktree(world: World, shell: Shells) -> None:
    world.git("worktree", "add", "-q", "-b", "fix", "../fix")
    fix = world.home / "fix"
    (fix / ".watercooler/graph").mkdir(parents=True)
    write(fix / ".watercooler", state("fix", "Codex"))
    be(fix / ".watercooler", Name("Codex", "fix"), "fix", source="CODEX_SANDBOX")
    assert world.run(fix, shell=shell, CODEX_SANDBOX="1") == "🎾 you · fix"


def test_a_linked_store_in_the_tree_is_left_alone(world: World, shell: Shells) -> None:
    """Whoever commits the link says where it leads to."""
    write(world.store, state("main", "Codex"))
    away = world.home.parent / "away"
    (away / "graph").mkdir(parents=True)
    write(away, state("main", "Cursor"), state("x", "Cursor"))
    sub = world.repo / "sub"
    sub.mkdir()
    for link in (world.repo / ".watercooler", sub / ".watercooler"):
        link.symlink_to(away)
    assert world.run(sub, shell=shell) == "Codex has the ball · main"
    own = world.repo / ".watercooler"
    own.unlink()
    (own / "graph").mkdir(parents=True)
    write(own, state("main", "Zed"))
    assert world.run(sub, shell=shell) == "Zed has the ball · main"
    # Outside of git it is whose folder it is who made it.
    notes = world.home / "notes"
    (notes / ".watercooler/graph").mkdir(parents=True)
    (notes / "sub").mkdir()
    assert world.run(notes / "sub", shell=shell) == ""
    (notes / "sub/.watercooler").symlink_to(away)
    be(away, Name("Cursor"))
    said = world.run(notes / "sub", shell=shell)
    assert said == "🎾 2 waiting for you elsewhere"


@pytest.mark.parametrize("name", ["", "/status", "/me"])
def test_links_among_our_own_files_are_not_followed(
    world: World, shell: Shells, name: str
) -> None:
    write(world.store, state("main", "Codex"))
    be(world.store, Name("Codex"))
    assert world.run(world.repo, shell=shell) == "🎾 you · main"
    own, away = Path(f"{world.store}/.local{name}"), world.home / "away"
    own.rename(away)
    own.symlink_to(away)
    assert world.run(world.repo, shell=shell) == ""


def test_a_store_above_the_repository_is_not_its_own(
    world: World, shell: Shells
) -> None:
    world.git("worktree", "remove", "--force", str(world.store))
    world.git("branch", "-D", THREADS)
    above = world.home.parent / ".watercooler"
    (above / "threads").mkdir(parents=True)
    write(above, state("main", "Codex"))
    assert world.run(world.repo, shell=shell) == ""


@pytest.mark.parametrize(
    ("ref", "says"),
    [
        (f"refs/heads/{THREADS}", NOT_CHECKED_OUT),
        (f"refs/remotes/origin/{THREADS}", NOT_CHECKED_OUT),
        (f"refs/remotes/a remote/{THREADS}", NOT_CHECKED_OUT),
        # A branch of another name.
        (f"refs/remotes/origin/feature/{THREADS}", ""),
        (f"refs/remotes/{THREADS}", ""),
        (f"refs/tags/{THREADS}", ""),
        (f"refs/heads/{THREADS}-2", ""),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("linked", [False, True])
def test_threads_that_are_not_checked_out(
    world: World, shell: Shells, *, ref: str, says: str, packed: bool, linked: bool
) -> None:
    """Each line is what the twin says, which asks the same of the same files."""
    commit = world.git("rev-parse", THREADS)
    world.git("worktree", "remove", "--force", str(world.store))
    world.git("branch", "-D", THREADS)
    text = commit
    if packed:
        lines = "# pack-refs with: peeled fully-peeled sorted \n"
        lines += f"{commit} refs/heads/before\n{commit} {ref}\n"
        (world.repo / ".git/packed-refs").write_text(lines)
    else:
        path = world.repo / ".git" / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    where = world.repo
    if linked:
        where = world.home / "linked"
        world.git("worktree", "add", "-q", "--detach", str(where), "main")
    assert world.run(where, shell=shell) == says
    assert world.run(where, shell=shell, COLUMNS=str(len(NOT_CHECKED_OUT))) == says
    place = find(str(where), world.env())
    assert (place.exists, place.branch_exists) == (False, bool(says))


def test_a_clone_with_very_many_branches_is_not_read_to_its_end(
    world: World, shell: Shells
) -> None:
    commit = world.git("rev-parse", THREADS)
    world.git("worktree", "remove", "--force", str(world.store))
    world.git("branch", "-D", THREADS)
    names = [f"refs/remotes/origin/b{number:04}" for number in range(60)]
    for more, says in ((0, NOT_CHECKED_OUT), (9940, "")):
        names += [f"refs/remotes/origin/more{number:04}" for number in range(more)]
        names = [*names, f"refs/remotes/origin/{THREADS}"]
        lines = [f"{commit} {name}\n" for name in names]
        (world.repo / ".git/packed-refs").write_text("".join(lines))
        assert world.run(world.repo, shell=shell) == says
        names.pop()


def test_outside_git(tmp_path: Path, shell: Shells) -> None:
    world = World(tmp_path / "home")
    plain = world.home / "notes" / "sub"
    plain.mkdir(parents=True)
    assert world.run(plain, shell=shell) == ""
    home_store = world.home / ".watercooler"
    (home_store / "threads").mkdir(parents=True)
    be(home_store)
    write(home_store, state("x", "Claude"))
    assert world.run(plain, shell=shell) == ""
    store = world.home / "notes" / ".watercooler"
    (store / "threads").mkdir(parents=True)
    be(store)
    write(store, state("y", "Claude"))
    assert world.run(plain, shell=shell) == "🎾 y waits for you elsewhere"
    assert world.run(Path("/"), shell=shell) == ""


def test_a_chosen_store(world: World, shell: Shells) -> None:
    chosen = world.home / "chosen"
    chosen.mkdir()
    write(chosen, state("main", "Codex"))
    for where in (str(chosen), "../chosen"):
        said = world.run(world.repo, shell=shell, WATERCOOLER_DIR=where)
        assert said == "Codex has the ball · main"
    gone = world.run(world.repo, shell=shell, WATERCOOLER_DIR="/not/there")
    assert gone == STORE_MISSING


def test_a_store_that_is_gone_or_moved(world: World, shell: Shells) -> None:
    def says(**env: Any) -> str:
        return world.run(world.repo, shell=shell, **env)

    link = world.store / ".git"
    content = link.read_text()
    link.write_text("gitdir: /some/other/.git/worktrees/store\n")
    assert says() == STORE_MOVED
    assert says(COLUMNS=str(len(STORE_MOVED))) == STORE_MOVED
    link.write_bytes(b"\0garbage")
    assert says() == STORE_MOVED
    link.unlink()
    assert says() == STORE_MOVED
    link.mkdir()
    assert says() == STORE_MOVED
    shutil.rmtree(world.store)
    assert says() == STORE_MISSING
    world.store.mkdir()
    link.write_text(content)
    write(world.store, state("main", "Codex"))
    assert says() == "Codex has the ball · main"


def test_a_copied_repository_does_not_take_the_store(
    world: World, shell: Shells
) -> None:
    write(world.store, state("main", "Codex"))
    copy = world.home / "copy"
    shutil.copytree(world.repo, copy)
    assert world.run(copy, shell=shell) == STORE_MOVED


def test_a_repository_reached_through_a_link(world: World, shell: Shells) -> None:
    write(world.store, state("main", "Codex"))
    moved = world.home / "moved"
    world.repo.rename(moved)
    world.repo.symlink_to(moved)
    assert world.run(moved, shell=shell) == "Codex has the ball · main"


@pytest.mark.parametrize(
    "damage", [b"", b"gitdir: /not/there\n", b"gitdir:\n", b"\0\xff\n", b"gitdir: ../x"]
)
def test_a_broken_git_file(world: World, shell: Shells, damage: bytes) -> None:
    folder = world.home / "broken"
    folder.mkdir()
    (folder / ".git").write_bytes(damage)
    assert world.run(folder, shell=shell) == ""


def test_a_folder_that_is_gone(world: World, shell: Shells) -> None:
    gone = world.repo / "gone"
    go = f'cd "{gone}" && rmdir "{gone}" && exec "$@"'
    for one in shell:
        gone.mkdir()
        done = subprocess.run(
            ["sh", "-c", go, "sh", *one, str(world.script)],
            cwd=world.repo,
            env=world.env(),
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0


# --- what lies there --------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"wc1",
        b"wc1 OPEN\nfix",
        b"wc2 OPEN\nother\nformat\n",
        b"wc1 OPEN\n\n\n",
        b"\xff\xfe\0\x1b[31m\n" * 50,
        b"wc1 \x1b[1m\nfix\nCodex\n",
        b"wc1 OPEN\n\x1b]0;title\x07\nCodex\n",
        b"wc1 OPEN\nfix\n\xc2\x9b31mCodex\n",
    ],
)
def test_a_damaged_status_file(world: World, shell: Shells, content: bytes) -> None:
    """Nothing of it is shown: that thread is for wc-cli to read."""
    be(world.store)
    one = state("fix", "Codex", branch="main")
    put(world.store, dict.fromkeys(status_files(StatusView(one, {})), content))
    assert world.run(world.repo, shell=shell) == ""


@pytest.mark.parametrize(
    "count",
    [b"many claudecode(pat)", b"-1 *", b"99999999999 *", b"3 *", b"0 *\n7 *"],
)
def test_a_damaged_count(world: World, shell: Shells, count: bytes) -> None:
    be(world.store)
    one = state("fix", "Codex", branch="main")
    content = b"wc1 BLOCKED\nfix\nSam\n" + count
    put(world.store, dict.fromkeys(status_files(StatusView(one, {})), content))
    said = world.run(world.repo, shell=shell)
    assert said == "Sam has the ball · fix · BLOCKED"


def test_hostile_file_names(world: World, shell: Shells) -> None:
    folder = world.store / ".local/status/branch/main/.t"
    for holder, name in [("\x1b[31mred", "0.\x1b[1m"), ("a\nb", "x\n.\xc2\x9b")]:
        (folder / holder).mkdir(parents=True)
        (folder / holder / name).write_bytes(b"nonsense")
    assert world.run(world.repo, shell=shell) == ""


def test_folders_and_links_where_files_should_be(world: World, shell: Shells) -> None:
    local = world.store / ".local"
    (local / "status/branch/main/.t/codex/0.topic").mkdir(parents=True)
    (local / "me/=main/=default").mkdir(parents=True)
    assert world.run(world.repo, shell=shell) == ""
    shutil.rmtree(local)
    folder = local / "status/branch/main/.t/codex"
    folder.mkdir(parents=True)
    (folder / "0.zero").symlink_to("/dev/zero")
    os.mkfifo(folder / "1.pipe")
    assert world.run(world.repo, shell=shell) == ""
    (folder / "1.pipe").unlink()
    assert world.run(world.repo, shell=shell) == ""
    (local / "status/branch/main/.t").chmod(0)
    world.run(world.repo, shell=shell)
    (local / "status/branch/main/.t").chmod(0o700)


def test_a_hostile_identity(world: World, shell: Shells) -> None:
    write(world.store, state("main", "Codex"), state("far", "Cursor"))
    me = world.store / ".local/me/=main/=default"
    me.parent.mkdir(parents=True)
    for content in (b"", b"x", b"x\ny\n../holder/codex\n..\n\n*\n?????\n", b"\0\n" * 9):
        me.write_bytes(content)
        said = world.run(world.repo, shell=shell)
        assert said == "Codex has the ball · main", content


def test_an_endless_line_is_given_up(world: World) -> None:
    one = state("main", "Codex")
    huge = b"wc1 " + b"x" * 20_000_000
    put(world.store, dict.fromkeys(status_files(StatusView(one, {})), huge))
    begin = time.monotonic()
    subprocess.run(
        ["sh", str(world.script)],
        cwd=world.repo,
        env=world.env(),
        check=False,
        timeout=TIMEOUT,
    )
    assert time.monotonic() - begin < TIMEOUT


def test_the_same_key_in_two_spellings(world: World, shell: Shells) -> None:
    be(world.store, Name("Claude Code", "Fix", "Pat"))
    write(
        world.store,
        state("one", "CLAUDE @ fix", 2, branch="main"),
        state("two", "Claude Code@FIX(pat)", 3, branch="main"),
        state("three", "claude-code", 4, branch="main"),
    )
    assert world.run(world.repo, shell=shell) == "🎾 you · one · +2"


def test_a_long_line_of_readers_leaves_the_number_out(world: World) -> None:
    """Better no number than a wrong one."""
    be(world.store)
    crowd = {f"agent-{number}-{'x' * 40}": 1 for number in range(60)}
    one = state("main", "Claude", entry_count=9)
    write(world.store, one, new=crowd | {"claudecode(pat)": 3})
    assert world.run(world.repo) == "🎾 you · main"


# --- what is left to wc-cli ---------------------------------------------------------


def test_a_loop_is_left_to_wc_cli(world: World, shell: Shells) -> None:
    write(world.store, state("main", "Codex"))
    folder = world.repo / ".claude"
    folder.mkdir()
    assert world.run(world.repo, shell=shell) == "Codex has the ball · main"
    (folder / "loop-state.json").write_text("{}")
    assert world.run(world.repo, shell=shell) == ""


# --- a conflict to come -----------------------------------------------------------

MARK = ConflictMark("auth.py with Codex@review").encode()
WARNING = "⚠ auth.py with Codex@review"


def test_a_conflict_to_come(world: World, shell: Shells) -> None:
    be(world.store)
    (world.store / ".local/status").mkdir(parents=True)
    put(world.store, {"hot/=main": MARK})

    def says(*arguments: str) -> str:
        return world.run(world.repo, *arguments, shell=shell)

    assert says() == WARNING
    assert says("--ascii") == "!! auth.py with Codex@review"
    assert says("--color=always") == f"\x1b[1;33m{WARNING}\x1b[0m"
    write(world.store, state("far", "Claude", branch="other"))
    assert says() == f"🎾 far waits for you elsewhere · {WARNING}"
    write(world.store, state("main", "Codex", 2, status="BLOCKED"))
    theirs = "Codex has the ball · main · BLOCKED · 1 for you elsewhere"
    assert says() == f"{theirs} · {WARNING}"
    narrow = world.run(world.repo, shell=shell, COLUMNS="56")
    assert narrow == f"Codex has the ball · main · {WARNING}"
    assert (
        world.run(world.repo, shell=shell, COLUMNS="40") == "Codex has the ball · main"
    )
    write(world.store, state("auth", "Claude", 3, branch="main"))
    assert says() == f"🎾 you · auth · 1 elsewhere · {WARNING}"


def test_a_conflict_is_not_mentioned_after_a_commit(
    world: World, shell: Shells
) -> None:
    review = world.home / "review"
    world.git("worktree", "add", "-q", "-b", "review", str(review))
    write(world.store, state("main", "Codex"))
    mark = ConflictMark("auth.py with Codex@review", "review").encode()
    put(world.store, {"hot/=main": mark, "hot/review": MARK})
    reflogs = [
        world.repo / ".git/logs/HEAD",
        world.repo / ".git/worktrees/review/logs/HEAD",
    ]
    past, future = time.time() - 100, time.time() + 100
    layout = Layout(str(world.store))
    for changed in (None, *reflogs):
        for path in reflogs:
            moment = future if path == changed else past
            os.utime(path, (moment, moment))
        for folder, line in (
            (world.repo, "Codex has the ball · main · "),
            (review, ""),
        ):
            found = repository.find(str(folder))
            assert found is not None
            text = "" if changed else "auth.py with Codex@review"
            expected = f"{line}⚠ {text}" if text else line.removesuffix(" · ")
            assert world.run(folder, shell=shell) == expected
            assert conflictmarks.load(layout, found) == text


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"no second line", b"\n=main\n", b"\xff\x00\n"]
)
def test_a_damaged_mark(world: World, shell: Shells, content: bytes) -> None:
    write(world.store, state("main", "Codex"))
    put(world.store, {"hot/=main": content})
    assert world.run(world.repo, shell=shell) == "Codex has the ball · main"
    found = repository.find(str(world.repo))
    assert found is not None
    assert conflictmarks.load(Layout(str(world.store)), found) == ""


def test_a_link_to_other_marks_is_not_followed(
    world: World, shell: Shells, tmp_path: Path
) -> None:
    write(world.store, state("main", "Codex"))
    (tmp_path / "hot").mkdir()
    (tmp_path / "hot/=main").write_bytes(MARK)
    (world.store / ".local/hot").symlink_to(tmp_path / "hot")
    assert world.run(world.repo, shell=shell) == "Codex has the ball · main"
    found = repository.find(str(world.repo))
    assert found is not None
    assert conflictmarks.load(Layout(str(world.store)), found) == ""


# --- what waits in other repositories ----------------------------------------------


def test_what_waits_in_other_repositories(world: World, shell: Shells) -> None:
    be(world.store, Name("Pat"))
    (world.store / ".local/status").mkdir(parents=True)
    put(world.store, {"elsewhere/pat": b"2\n"})

    def says(*arguments: str) -> str:
        return world.run(world.repo, *arguments, shell=shell)

    assert says() == "+2 elsewhere"
    assert says("--color=always") == "\x1b[1;33m+2 elsewhere\x1b[0m"
    assert world.run(world.repo, shell=shell, COLUMNS="11") == ""
    write(world.store, state("far", "Pat", branch="other"))
    assert says() == "🎾 far waits for you elsewhere · +2 elsewhere"
    write(world.store, state("main", "Codex", 2, status="BLOCKED"))
    theirs = "Codex has the ball · main · BLOCKED · 1 for you elsewhere"
    assert says() == f"{theirs} · +2 elsewhere"
    put(world.store, {"hot/=main": MARK})
    assert says("--ascii") == (
        f"{theirs} · !! auth.py with Codex@review · +2 elsewhere".replace("·", "-")
    )
    narrow = world.run(world.repo, shell=shell, COLUMNS="30")
    assert narrow == "Codex has the ball · main"


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"2", b"0\n", b"07\n", b"2\n2\n", b"x\n", b"12345\n", b"-1\n"],
)
def test_a_damaged_number_of_other_repositories(
    world: World, shell: Shells, content: bytes
) -> None:
    be(world.store, Name("Pat"))
    (world.store / ".local/status").mkdir(parents=True)
    put(world.store, {"elsewhere/pat": content})
    assert world.run(world.repo, shell=shell) == ""
    assert elsewhere.load(Layout(str(world.store)), "pat") == 0


def test_a_link_to_another_number_is_not_followed(
    world: World, shell: Shells, tmp_path: Path
) -> None:
    be(world.store, Name("Pat"))
    (world.store / ".local/status").mkdir(parents=True)
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers/pat").write_bytes(b"2\n")
    folder = world.store / ".local/elsewhere"
    folder.symlink_to(tmp_path / "numbers")
    assert world.run(world.repo, shell=shell) == ""
    folder.unlink()
    folder.mkdir()
    (folder / "pat").symlink_to(tmp_path / "numbers/pat")
    assert world.run(world.repo, shell=shell) == ""


# --- standard input -----------------------------------------------------------------


def _json(**more: Any) -> dict[str, Any]:
    return {
        "session_id": "01",
        "transcript_path": "/t.jsonl",
        "model": {"id": "m", "display_name": "M"},
        "version": "2.0.1",
        "cost": {"total_cost_usd": 0.1, "total_duration_ms": 45000},
        "exceeds_200k_tokens": False,
        **more,
    }


def _cases(target: str, wrong: str) -> list[bytes]:
    """Inputs that all name ``target`` (or leave it to the working folder)."""
    place = {"current_dir": target, "project_dir": wrong, "added_dirs": [wrong]}
    tree = {"name": "fix", "path": target, "branch": "fix", "original_cwd": wrong}
    full = _json(cwd=wrong, workspace=place)
    dumped = json.dumps(full)
    return [
        dumped.encode(),
        f"{dumped}\n".encode(),
        json.dumps(full, separators=(",", ":")).encode(),
        json.dumps(full, indent=2).encode(),
        json.dumps(full, indent=8).replace("\n", "\r\n").encode(),
        json.dumps(_json(cwd=target)).encode(),
        json.dumps(_json(cwd=target, workspace={})).encode(),
        json.dumps({"a": {"cwd": wrong}, "cwd": target}).encode(),
        json.dumps({"workspace": {"current_dir": target, "x": {}}}).encode(),
        json.dumps({"title": 'say "cwd": \\', "cwd": target}).encode(),
        json.dumps({"title": "cwd", "x": wrong, "cwd": target}).encode(),
        json.dumps({"title": "back\\\\", "cwd": target, "n": 1}).encode(),
        json.dumps({"list": ["cwd", wrong], "cwd": target}).encode(),
        json.dumps(
            _json(workspace=place | {"current_dir": wrong}, worktree=tree)
        ).encode(),
        json.dumps(
            _json(workspace={"current_dir": "/gone", "project_dir": target})
        ).encode(),
        json.dumps(_json(worktree=tree | {"path": "/gone"}, cwd=target)).encode(),
        json.dumps({"big": "x" * 20_000, "cwd": target}).encode(),
    ]


HOSTILE = [
    b"",
    b"\n",
    b"\n" * 2000,
    b"null",
    b"{",
    b'"',
    b'"\\',
    b'{"cwd": "',
    b'{"cwd": 7}',
    b'{"cwd": "relative/path"}',
    b'{"cwd": "-"}',
    b'{"cwd": "/not/there"}',
    b'{"cwd": "/tmp/\\u0041"}',
    b'{"cwd": "/a\\"b"}',
    b'{"cwd": "$(touch x)`touch y`"}',
    b'{"workspace": {"current_dir": "\\/tmp"}}',
    b'{"workspace": {"current_dir": ""}}',
    b"\0\xff\xfe\x1b[31m" * 100,
    b'""""""""' * 500,
    b"* ? [a-z] ~ " * 50,
    b"{" * 300_000,
]


def test_claude_codes_json(world: World, shell: Shells) -> None:
    world.git("worktree", "add", "-q", "-b", "fix", "../the fix")
    write(world.store, state("main", "Codex"), state("fix", "Cursor"))
    target = str(world.home / "the fix")
    for given_json in _cases(target, str(world.repo)):
        said = world.run(
            world.repo, "--stdin", "--color=never", shell=shell, stdin=given_json
        )
        assert said == "Cursor has the ball · fix", given_json[:200]


def test_a_hostile_stdin_leaves_the_working_folder(world: World, shell: Shells) -> None:
    write(world.store, state("main", "Codex"))
    for given_json in HOSTILE:
        said = world.run(
            world.repo, "--stdin", "--color=never", shell=shell, stdin=given_json
        )
        assert said == "Codex has the ball · main", given_json[:200]
    assert sorted(os.listdir(world.repo)) == [".git"]


def _run_with_open_pipe(world: World, given_json: bytes, *arguments: str) -> bytes:
    """The output while the other end of standard input stays open."""
    read, kept = os.pipe()
    try:
        os.write(kept, given_json)
        done = subprocess.run(
            ["sh", str(world.script), *arguments],
            cwd=world.repo,
            env=world.env(),
            stdin=read,
            capture_output=True,
            timeout=TIMEOUT,
            check=True,
        )
    finally:
        os.close(read)
        os.close(kept)
    return done.stdout


def test_an_open_silent_pipe(world: World) -> None:
    write(world.store, state("main", "Codex"))
    expected = "Codex has the ball · main\n".encode()
    assert _run_with_open_pipe(world, b"") == expected
    given_json = b'{"cwd": "/"}\n'
    assert _run_with_open_pipe(world, given_json, "--stdin") == b""
    huge = b'{"cwd": "/", "x": [\n' + b'"y",\n' * 600
    assert _run_with_open_pipe(world, huge, "--stdin", "--color=never") == b""


def test_a_terminal_as_stdin(world: World) -> None:
    write(world.store, state("main", "Codex"))
    leader, follower = pty.openpty()
    done = subprocess.run(
        ["sh", str(world.script), "--stdin", "--color=never", "--chain=echo first"],
        cwd=world.repo,
        env=world.env(),
        stdin=follower,
        capture_output=True,
        timeout=TIMEOUT,
        check=True,
    )
    os.close(leader)
    os.close(follower)
    assert done.stdout.decode() == "first\nCodex has the ball · main\n"


# --- another status line ----------------------------------------------------------


def test_chain(world: World, shell: Shells) -> None:
    write(world.store, state("main", "Codex"))
    ours = "Codex has the ball · main"
    given_json = json.dumps(_json(cwd=str(world.repo)), indent=1).encode()
    long_json = b'{"cwd": "/", "x": [\n' + b'"y",\n' * 3000 + b'"z"]}'
    for command, stdin, expected in [
        ("printf 'one\ntwo'", b"", f"one\ntwo\n{ours}"),
        ("cat", given_json, f"{given_json.decode()}\n{ours}"),
        ("wc -c", long_json, str(len(long_json))),
        ("exit 3", given_json, ours),
        ("exec <&- >&-", given_json, ours),
        ("not-a-command 2>/dev/null", given_json, ours),
        (
            'printf "$LANG:${LC_ALL-none}:${COLUMNS-none}"',
            b"",
            f"C.UTF-8:none:none\n{ours}",
        ),
    ]:
        said = world.run(
            world.repo,
            "--stdin",
            "--color=never",
            "--chain",
            command,
            shell=shell,
            stdin=stdin,
        )
        assert said.strip() == expected, command
    assert world.run(world.repo, "--chain=cat", shell=shell, stdin=b"x") == f"x\n{ours}"
    assert world.run(Path("/"), "--chain=echo a", shell=shell) == "a"


# --- what it costs ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dash", "bash", "busybox", "zsh"])
def test_starts_no_process_and_reads_little(
    world: World, tmp_path: Path, name: str
) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace IS NOT INSTALLED: that nothing is started is untested")
    command = SHELLS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(
            f"{command[0]} IS NOT INSTALLED: that nothing is started is untested"
        )
    be(world.store)
    for number in range(30):
        write(world.store, state(f"t{number}", "Claude", number, branch="main"))
    trace = tmp_path / "trace"
    calls = "trace=fork,vfork,clone,clone3,execve,execveat"
    done = subprocess.run(
        [
            "strace",
            "-f",
            "-o",
            str(trace),
            "-e",
            calls,
            *command,
            str(world.script),
            "--stdin",
        ],
        cwd=world.repo,
        env=world.env(),
        input=json.dumps(_json(cwd=str(world.repo))).encode(),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    if "ptrace" in done.stderr.decode():
        pytest.skip("strace MAY NOT TRACE here: that nothing is started is untested")
    assert "t0" in done.stdout.decode()
    made = [one for one in trace.read_text().splitlines() if "exited" not in one]
    assert len(made) == 1, made
    assert "execve(" in made[0]


def test_is_plain_sh() -> None:
    text = SCRIPT.read_bytes()
    assert text.startswith(b"#!/bin/sh\n")
    assert os.access(SCRIPT, os.X_OK)


def test_asks_for_the_file_that_wc_writes(world: World, shell: Shells) -> None:
    """Every way to write a name leads to the file that wc names after it."""
    write(world.store, state("main", "Somebody Else"))
    for agent in ("Codex", " A b\tC ", "a/b", "..", "=x", "100%", "a*b", "Zoë", "*/%"):
        shutil.rmtree(world.store / ".local/me", ignore_errors=True)
        me = identity_files(
            MAIN_WORKTREE,
            named(Name("Somebody Else")),
            Directory(),
            {"WATERCOOLER_AGENT": agent},
        )
        assert [*me] == [f"me/=main/{asked_name(agent)}"]
        put(world.store, me)
        said = world.run(world.repo, shell=shell, WATERCOOLER_AGENT=agent)
        assert said == "🎾 you · main", agent


def test_a_closed_thread_says_nothing(world: World, shell: Shells) -> None:
    be(world.store)
    write(world.store, state("main", "Claude", status=CLOSED), state("x", "Codex"))
    assert world.run(world.repo, shell=shell) == ""
