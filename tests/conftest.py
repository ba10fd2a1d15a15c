"""What every test stands on: a machine without a person.

The real home folder is out of reach before the first test is imported, in
this process by an audit hook, in its children by HOME. Nothing of the
environment that says who or where we are gets through.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import Phase, settings

from tests import amounts, forking, marking, measuring, reporting
from wc_core.base import agents
from wc_core.base.layout import Layout
from wc_core.ledger.git.private import private_layout

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

SOURCE = Path(__file__).resolve().parents[1] / "src"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
THREADS = "watercooler/threads"
SECONDS = 60.0

# Each commit, fetch and push starts two processes to check whether maintenance is due.
# In a test it never is.
UNMAINTAINED = "[maintenance]\n\tauto = false\n[receive]\n\tautoGC = false\n"
# What in a home folder belongs to a person. Not all of it: the interpreter, or
# this checkout, may lie there as well.
_PERSONAL = (
    *(".watercooler", ".gitconfig", ".git-credentials", ".netrc", ".ssh"),
    *(".config", ".claude", ".claude.json", ".codex", ".cursor", ".gemini"),
    *(".codeium", ".agents", ".bashrc", ".bash_profile", ".profile"),
    *(".zshrc", ".zshenv", ".tmux.conf"),
)
# Events of https://docs.python.org/3/library/audit_events.html with a path first.
_REACHING = frozenset(
    {"open", "os.listdir", "os.scandir", "os.mkdir", "os.rmdir", "os.remove"}
    | {"os.rename", "os.link", "os.symlink", "os.chmod", "os.chown", "os.utime"}
    | {"os.truncate", "os.chdir", "os.walk", "shutil.rmtree", "shutil.copyfile"}
)
# The first words of the variables that agents set for their commands.
AGENT_WORDS = {
    variable.partition("_")[0]
    for variable in (
        *(variable for variable, _ in agents.VARIABLES),
        *(*agents.SESSION_VARIABLES, agents.CONVENTION, agents.OLDER_CONVENTION[0]),
    )
}
TELLTALE = re.compile(
    rf"(?:{'|'.join(sorted(AGENT_WORDS))})(?:_|$)"
    r"|WATERCOOLER_|GIT_|XDG_|_WC_|TYPER_"
    r"|_TYPER_|COMP_|(?:EDITOR|VISUAL|PAGER|NO_COLOR|COLUMNS|LINES|LC_ALL|LANG|TERM"
    r"|USER|LOGNAME|PYTHONIOENCODING|PYTHONUNBUFFERED|SSH_AUTH_SOCK)$"
)


# Modules with a test or a fixture that takes ten seconds or more.
_LONG = frozenset(
    {"test_axe", "test_bootstrap", "test_crash", "test_dependency_cruiser"}
    | {"test_inspector", "test_kills", "test_one_truth", "test_outside"}
    | {"test_read_only", "test_simulation", "test_sync_kills"}
)
# How often this process's tests have run each command line, and up to which time it is
# measured.
_RUNS: Counter[tuple[str, ...]] = Counter()
_MEASURED_RUNS = 4


class HomeTouchedError(BaseException):
    """A test reached for the home folder of whoever runs it."""


def _real_homes() -> tuple[str, ...]:
    said = os.environ.get("WC_TESTS_REAL_HOME") or os.path.expanduser("~")
    homes = {said, pwd.getpwuid(os.getuid()).pw_dir}
    return tuple(sorted(os.path.realpath(home) for home in homes if home != "/"))


REAL_HOMES = _real_homes()
_FORBIDDEN = tuple(f"{home}/{name}" for home in REAL_HOMES for name in _PERSONAL)


def _guard(event: str, args: tuple[object, ...]) -> None:
    if event not in _REACHING:
        return
    for one in args[:2]:
        if isinstance(one, bytes):
            one = os.fsdecode(one)  # noqa: PLW2901
        if isinstance(one, str) and one.startswith(_FORBIDDEN):
            rest = next(one[len(name) :] for name in _FORBIDDEN if one.startswith(name))
            if not rest or rest[0] == "/":
                raise HomeTouchedError(f"{event}: {one}")


def _leave_home() -> None:
    """Take the person out of the environment, for us and for our children."""
    os.environ["WC_TESTS_REAL_HOME"] = REAL_HOMES[0]
    for name in [one for one in os.environ if TELLTALE.match(one)]:
        del os.environ[name]
    home = tempfile.mkdtemp(prefix="wc-tests-home-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ["HOME"] = home
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    # Children that compile every module at every start take three times as
    # long; who asked for no bytecode gets it out of the way instead.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        cache = f"{tempfile.gettempdir()}/wc-tests-bytecode-{os.getuid()}"
        os.environ.setdefault("PYTHONPYCACHEPREFIX", cache)
    sys.addaudithook(_guard)


def _catch_ignored_signals() -> None:
    """Give child processes the default reaction to every signal we ignore.

    A shell that starts us in the background ignores SIGINT for us, nohup ignores
    SIGHUP, and children inherit what is ignored; tests that interrupt a child
    would then wait forever. A handler is not inherited: this process goes on
    ignoring the signal, its children do not.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


_leave_home()
_catch_ignored_signals()

pytest_terminal_summary = reporting.pytest_terminal_summary


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that `bin/test` passes on."""
    parser.addoption(
        "--long", action="store_true", help="as much of everything as is promised"
    )
    parser.addoption(
        "--record", action="store_true", help="record the answers again: tests/recorded"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Say how much is to be done before the first test is imported."""
    if config.getoption("--long"):
        os.environ[amounts.LONG] = "1"
    # The same examples each time, so that a change is not blamed for a rare one that
    # was there before; the long runs look for those.
    usual = settings(
        max_examples=amounts.examples(12),
        deadline=None,  # a busy machine is not a failure
        derandomize=not amounts.is_long(),
    )
    settings.register_profile("usual", usual)
    # With --hypothesis-profile=any: that an example fails is enough.
    settings.register_profile("any", usual, phases=(Phase.explicit, Phase.generate))
    settings.load_profile("usual")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is imported and collected out of the garbage collector's sight.

    It lives until the end, and each full collection during a test would go through
    all of it again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)  # the usual 700 costs time, as in the programs
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first: what comes last keeps all processors busy."""
    marking.mark(items, long=amounts.is_long())
    items.sort(key=lambda item: item.path.stem not in _LONG)


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test set without undoing it is gone in the next."""
    for name in [one for one in os.environ if TELLTALE.match(one)]:
        if name != "GIT_CONFIG_NOSYSTEM":
            monkeypatch.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def _measured() -> Iterator[None]:
    yield
    forking.stop()
    measuring.hand_over()


class Done(NamedTuple):
    """How a program ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """The error of a command that was asked for JSON."""
        fields: dict[str, str] = json.loads(self.err)["error"]
        return fields


def decoded(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


class Machine:
    """A computer of one person: a home folder, and what is run there.

    ``env`` is the whole environment of everything that runs. Nothing is
    settled in the background, unless a test says so.
    """

    wc_words: tuple[str, ...] = (
        sys.executable,
        "-c",
        "from wc_cli.run.main import main; main()",
    )

    def __init__(self, root: Path, user: str = "Pat") -> None:
        self.root = root
        self.home = root / "home"
        self.home.mkdir(parents=True)
        kept = ("PATH", "PYTHONPYCACHEPREFIX", "TMPDIR", "VIRTUAL_ENV")
        env = {
            **{name: os.environ[name] for name in kept if name in os.environ},
            **{k: v for k, v in os.environ.items() if k.startswith(("COV", "PYTEST"))},
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONPATH": str(SOURCE),
            "PYTHONWARNINGS": "error",
            "LC_ALL": "C.UTF-8",
            "WATERCOOLER_SYNC": "off",
            # Most tests of searches are about words: no model is loaded for each.
            "WATERCOOLER_MEANING": "off",
            # Whatever runs the tests.
            "WATERCOOLER_DETECT": "off",
        }
        self.env = measuring.noting(env)
        if user:
            text = f"[user]\n\tname = {user}\n\temail = {user.lower()}@example.org\n"
            (self.home / ".gitconfig").write_text(text + UNMAINTAINED)

    def run(
        self,
        words: Sequence[str],
        cwd: Path | str,
        *,
        feed: bytes | None = None,
        env: Mapping[str, str] | None = None,
        without: Sequence[str] = (),
    ) -> Done:
        """Run a program to its end; output that is not UTF-8 is escaped.

        It is measured the first times that it is run with these words: most are
        preparations, and measuring takes longer than what is measured.
        """
        said = (*words, *sorted(env or {}))
        _RUNS[said] += 1
        again = _RUNS[said] > _MEASURED_RUNS
        given = {
            name: text
            for name, text in {**self.env, **(env or {})}.items()
            if name not in without and not (again and name.startswith("COV"))
        }
        if said[: len(Machine.wc_words)] == Machine.wc_words:
            rest = words[len(Machine.wc_words) :]
            seconds = amounts.patience(SECONDS)
            wanted = forking.Wanted(rest, str(cwd), given, feed, seconds)
            forked = forking.run(wanted)
            if forked is not None:
                return Done(forked[0], *map(decoded, forked[1:]))
        done = subprocess.run(
            words,
            cwd=cwd,
            env=given,
            input=feed,
            stdin=subprocess.DEVNULL if feed is None else None,
            capture_output=True,
            timeout=amounts.patience(SECONDS),
            check=False,
        )
        return Done(done.returncode, decoded(done.stdout), decoded(done.stderr))

    def git(self, *words: str, cwd: Path | str) -> str:
        """What git prints; a failure of git is one of the test."""
        done = self.run(["git", *words], cwd)
        assert not done.code, done.err
        return done.out.strip()

    def repo(self, name: str = "app", *, commit: bool = True) -> Repo:
        """A new repository, with one commit."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        identity = self.home / ".gitconfig"
        said = identity.read_text() if identity.exists() else ""
        # Copied, for git takes three processes and most of a test's time.
        shutil.copytree(_template(said, commit=commit), path)
        return Repo(self, path)

    def folder(self, name: str) -> Repo:
        """A place outside of git."""
        path = self.root / name
        path.mkdir(parents=True)
        return Repo(self, path)


@functools.cache
def _template(identity: str, *, commit: bool) -> str:
    """A new repository of someone, made by git; without sample hooks."""
    root = tempfile.mkdtemp(prefix="wc-tests-template-")
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    path = Path(root) / "app"
    path.mkdir()
    machine = Machine(Path(root), "")
    (machine.home / ".gitconfig").write_text(identity)
    machine.git("init", "-q", "-b", "main", cwd=path)
    for sample in (path / ".git/hooks").iterdir():
        sample.unlink()
    if commit:
        (path / "code.txt").write_text("code\n")
        machine.git("add", "code.txt", cwd=path)
        machine.git("commit", "-q", "-m", "code", cwd=path)
    return str(path)


class Repo:
    """A folder someone works in."""

    def __init__(self, machine: Machine, path: Path) -> None:
        self.machine = machine
        self.path = path

    def wc(
        self,
        *words: str,
        cwd: Path | str = "",
        feed: bytes | None = None,
        env: Mapping[str, str] | None = None,
        without: Sequence[str] = (),
    ) -> Done:
        """Run wc here, or in a folder relative to here."""
        where = self.path / cwd
        words = (*self.machine.wc_words, *words)
        return self.machine.run(words, where, feed=feed, env=env, without=without)

    def ok(self, *words: str, **how: Any) -> Done:
        """Run wc, which must succeed."""
        done = self.wc(*words, **how)
        assert not done.code, (words, done)
        return done

    def settled(self, *words: str, **how: Any) -> Done:
        """Run wc, which must succeed and settle what it wrote."""
        env = {**how.pop("env", {}), "WATERCOOLER_SYNC": "inline"}
        return self.ok(*words, env=env, **how)

    def fails(self, code: int, *words: str, **how: Any) -> str:
        """Run wc, which must fail with that code and say nothing as a result;
        what it says instead."""
        done = self.wc(*words, **how)
        assert (done.code, done.out) == (code, ""), (words, done)
        assert "Traceback" not in done.err
        assert "bug" not in done.err or code == 1, done.err
        return done.err

    def json(self, *words: str, **how: Any) -> Any:
        """The JSON that wc answers with."""
        return self.ok(*words, "--json", **how).json

    def git(self, *words: str) -> str:
        return self.machine.git(*words, cwd=self.path)

    def worktree(self, name: str, branch: str = "") -> Repo:
        """A linked worktree beside this one, on a branch of its own."""
        path = self.path.parent / name
        self.git("worktree", "add", "-q", "-b", branch or name, str(path))
        return Repo(self.machine, path)

    @property
    def store(self) -> Path:
        """The store's root, by what wc itself says."""
        said: str = self.json("whoami")["store"]
        return Path(said.replace("~", str(self.machine.home), 1))

    @property
    def private(self) -> Path:
        """What this user's processes have recorded outside of the store."""
        return Path(private_layout(Layout(str(self.store))).local)

    def log(self, topic: str) -> Path:
        """The log of a thread."""
        return self.store / "graph/baseline/threads" / topic / "entries.jsonl"

    def entries(self, topic: str) -> list[dict[str, Any]]:
        """The lines of a log."""
        return [json.loads(line) for line in self.log(topic).read_text().splitlines()]

    def ball(self, topic: str) -> str | None:
        """Who holds the ball of a thread."""
        ball: str | None = self.json("read", topic, "--peek")["ball"]
        return ball


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def repo(machine: Machine) -> Repo:
    return machine.repo()


@pytest.fixture(scope="session")
def real_homes() -> tuple[str, ...]:
    return REAL_HOMES


@pytest.fixture(scope="session")
def data() -> Path:
    """Real stores, written by other people's tools."""
    if not (DATA / "real-threads.bundle").is_file():
        pytest.skip(f"REAL DATA ABSENT: {DATA} (the tests of real stores need it)")
    return DATA
