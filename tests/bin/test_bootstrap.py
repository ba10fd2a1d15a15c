"""``bin/bootstrap``, run for real on a tiny checkout.

The checkout has the real scripts, locks that name nothing, and a build backend
of its own, so that pip and uv do all their work without a network. The backend
waits while a file named ``hold`` is there: that is how a test stops it halfway.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import amounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BIN = Path(__file__).resolve().parents[2] / "bin"

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "tiny"
version = "1"
"""

BACKEND = """\
import os
import time
import zipfile

ROOT = os.path.dirname(os.path.abspath(__file__))
INFO = "tiny-1.dist-info"
FILES = {
    "tiny.py": "def main():\\n    print('tiny')\\n",
    "tiny-1.data/scripts/wc": "#!/bin/sh\\necho a copy\\n",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any",
    f"{INFO}/entry_points.txt": "[console_scripts]\\nwc-cli = tiny:main\\n",
}

def build_wheel(directory, settings=None, metadata=None):
    with open(os.path.join(ROOT, "builds"), "a") as log:
        log.write("built\\n")
    while os.path.exists(os.path.join(ROOT, "hold")):
        time.sleep(0.02)
    if os.path.exists(os.path.join(ROOT, "broken")):
        raise SystemExit("this backend is broken")
    name = "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        for path, text in FILES.items():
            wheel.writestr(path, text)
        record = "".join(f"{path},,\\n" for path in [*FILES, f"{INFO}/RECORD"])
        wheel.writestr(f"{INFO}/RECORD", record)
    return name

build_editable = build_wheel
"""


@dataclass(frozen=True)
class Checkout:
    """The tiny checkout, and the environment that its scripts are run in."""

    root: Path
    path: str

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def stamp(self) -> str:
        """What the environment says it was made from; "" while it is not whole."""
        complete = self.venv / ".complete"
        return complete.read_text() if complete.exists() else ""

    @property
    def builds(self) -> int:
        """How often the project has been built."""
        log = self.root / "builds"
        return len(log.read_text().split()) if log.exists() else 0

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.root / "bin" / "bootstrap", *arguments],
            cwd="/",
            env={
                "HOME": str(self.root.parent),
                "PATH": self.path,
                "PIP_NO_INDEX": "1",
                "UV_OFFLINE": "1",
                "UV_CACHE_DIR": str(self.root.parent / "cache"),
                **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, **variables: str) -> tuple[int, str]:
        """Run it to its end; nothing of it may go to standard output."""
        return finish(self.start(*arguments, **variables))

    def works(self) -> bool:
        """Whether the command that the environment was made for runs."""
        command = [self.venv / "bin" / "wc-cli"]
        done = subprocess.run(command, check=False, capture_output=True)
        return done.stdout == b"tiny\n"


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=60)
    assert out == ""
    return process.returncode, err


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited a minute for nothing"
        time.sleep(0.02)


def tools(folder: Path, *names: str) -> str:
    """A PATH with this Python, the named programs and the system's."""
    folder.mkdir()
    (folder / "python3").symlink_to(Path(sys.executable).resolve())
    for name in names:
        (folder / name).symlink_to(found(name))
    return f"{folder}:/usr/bin:/bin"


def found(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    path = str(beside) if beside.exists() else shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed: bin/bootstrap is NOT tested with it")
    return path


def checkout(folder: Path, path: str) -> Checkout:
    root = folder / "check out"
    (root / "bin").mkdir(parents=True)
    for name in ("bootstrap", "bootstrap.py", "wc"):
        shutil.copy2(BIN / name, root / "bin" / name)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "backend.py").write_text(BACKEND)
    for name in ("requirements.lock", "requirements-dev.lock"):
        (root / name).write_text(f"# {name}\n")
    return Checkout(root, path)


# By pip it takes twenty seconds; `test_without_uv_again_pip_makes_what_it_needs`
# has one by pip always.
@pytest.fixture(params=["pip", "uv"] if amounts.is_long() else ["uv"])
def tiny(request: pytest.FixtureRequest, tmp_path: Path) -> Checkout:
    """A fresh checkout, in a long run for each of the two installers."""
    names = ("uv",) if request.param == "uv" else ()
    return checkout(tmp_path, tools(tmp_path / "tools", *names))


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Checkout]:
    """A checkout whose first start stops in the middle; uv, because it is quick."""
    made = checkout(tmp_path, tools(tmp_path / "tools", "uv"))
    (made.root / "hold").touch()
    yield made
    (made.root / "hold").unlink(missing_ok=True)


def release(held: Checkout) -> None:
    (held.root / "hold").unlink()


def test_makes_a_whole_environment_and_updates_it_in_place(tiny: Checkout) -> None:
    """A failed step is told and leaves nothing that looks whole. What else lies
    in the environment stays; a dev environment stays one."""
    (tiny.root / "broken").touch()
    code, said = tiny.run()
    assert code == 1
    assert "this backend is broken" in said
    assert "bootstrap: this failed with status " in said
    assert said.splitlines()[-1].endswith("run bin/bootstrap again")
    assert tiny.stamp == ""
    (tiny.root / "broken").unlink()
    (tiny.root / "builds").unlink()
    code, said = tiny.run()
    assert code == 0, said
    assert tiny.works()
    assert tiny.stamp.startswith("runtime ")
    assert said.splitlines()[0] == f"bootstrap: making {tiny.venv}"
    assert said.splitlines()[-1] == "bootstrap: done"
    assert not (tiny.venv / ".building").exists()
    assert tiny.run() == (0, "")
    assert tiny.builds == 1
    assert tiny.run("--dev")[0] == 0
    mine = tiny.venv / "mine"
    mine.touch()
    before = tiny.stamp
    for name in ("requirements-dev.lock", "pyproject.toml"):
        with (tiny.root / name).open("a") as file:
            file.write("# changed\n")
        code, said = tiny.run()
        assert code == 0, said
        assert said.startswith("bootstrap: updating ")
        assert tiny.stamp != before
        assert tiny.stamp.startswith("dev ")
        before = tiny.stamp
    assert mine.exists()
    assert tiny.builds == 4
    with (tiny.root / "requirements.lock").open("a") as file:
        file.write("# not what a dev environment is made from\n")
    assert tiny.run() == (0, "")
    _cannot_be_installed(tiny, "requirements-dev.lock")


def _cannot_be_installed(tiny: Checkout, lock: str) -> None:
    """As without a network: the installer says why, then we say what to do."""
    (tiny.root / lock).write_text(f"no-such-package==1 --hash=sha256:{'0' * 64}\n")
    code, said = tiny.run()
    assert code == 1
    assert "no-such-package" in said
    assert tiny.stamp == ""


def test_a_lock_that_cannot_be_installed_is_reported(held: Checkout) -> None:
    release(held)
    _cannot_be_installed(held, "requirements.lock")


def test_a_touched_source_is_no_news_but_satisfies_the_launcher(
    held: Checkout,
) -> None:
    """The launcher compares times; afterwards it must have no more to ask."""
    release(held)
    assert held.run()[0] == 0
    source = held.root / "requirements.lock"
    later = time.time_ns() + 5
    os.utime(source, ns=(later, later))
    time.sleep(0.02)
    assert held.run() == (0, "")
    assert (held.venv / ".complete").stat().st_mtime_ns > source.stat().st_mtime_ns
    assert held.builds == 1


def test_the_copied_scripts_are_links_to_the_checkouts_own(held: Checkout) -> None:
    release(held)
    assert held.run()[0] == 0
    assert (held.venv / "bin" / "wc").resolve() == held.root / "bin" / "wc"


def test_two_starts_at_once_build_once(held: Checkout) -> None:
    first = held.start()
    wait_until(lambda: held.builds == 1)
    second, third = held.start(), held.start("--dev")
    assert second.stderr is not None
    assert "waiting for it" in second.stderr.readline()
    assert held.stamp == ""
    release(held)
    for process in (first, second, third):
        assert finish(process)[0] == 0
    assert held.works()
    assert held.stamp.startswith("dev ")
    assert held.builds == 2


def test_killed_halfway_is_never_taken_for_whole(held: Checkout) -> None:
    """The installer that is left keeps the lock; the next start begins again."""
    first = held.start()
    wait_until(lambda: held.builds == 1)
    first.kill()
    first.wait()
    for pipe in (first.stdout, first.stderr):  # its orphan has them open, too
        if pipe is not None:
            pipe.close()
    assert held.stamp == ""
    assert (held.venv / ".building").exists()
    second = held.start()
    assert second.stderr is not None
    assert "waiting for it" in second.stderr.readline()
    release(held)
    code, said = finish(second)
    assert code == 0, said
    assert "bootstrap: making " in said
    assert held.works()
    assert held.builds == 2


def test_an_interrupt_ends_it_with_130(held: Checkout) -> None:
    first = held.start()
    wait_until(lambda: held.builds == 1)
    first.send_signal(signal.SIGINT)
    release(held)
    code, said = finish(first)
    assert code == 130
    assert said.endswith("bootstrap: interrupted; the next start begins again\n")
    assert held.run()[0] == 0
    assert held.works()


def test_a_python_that_vanished_is_replaced(held: Checkout) -> None:
    release(held)
    assert held.run()[0] == 0
    python = held.venv / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3")
    code, said = held.run()
    assert code == 0, said
    assert "bootstrap: making " in said
    assert held.works()


def test_an_environment_that_is_not_ours_is_taken_over_with_what_it_has(
    held: Checkout,
) -> None:
    release(held)
    subprocess.run([found("uv"), "venv", "-q", held.venv], check=True)
    mine = held.venv / "mine"
    mine.touch()
    code, said = held.run()
    assert code == 0, said
    assert mine.exists()
    assert held.works()


@pytest.mark.long
def test_without_uv_again_pip_makes_what_it_needs(held: Checkout) -> None:
    """An environment of uv has no pip; a complete one is left alone anyway."""
    release(held)
    assert held.run()[0] == 0
    (held.root.parent / "tools" / "uv").unlink()
    assert held.run() == (0, "")
    index = _with_an_extra_and_a_newer_version(held)
    code, said = held.run(PIP_FIND_LINKS=str(index))
    assert code == 0, said
    assert held.works()
    assert (held.venv / "bin" / "pip").exists()
    assert list(held.venv.rglob("checker-1.dist-info"))


@pytest.mark.long
@pytest.mark.parametrize("works", [True, False])
def test_a_uv_in_the_lock_installs_the_rest(tmp_path: Path, *, works: bool) -> None:
    tiny = checkout(tmp_path, tools(tmp_path / "tools"))
    index = _with_an_extra_and_a_newer_version(tiny)
    # It notes what it is asked, and becomes the real one or fails.
    asked = tmp_path / "asked"
    script = (
        f'#!/bin/sh\necho "$@" >>"{asked}"\nexec {found("uv") if works else "false"}'
    )
    wheel = index / "uv-1-py3-none-any.whl"
    write_wheel(wheel, {"uv-1.data/scripts/uv": f'{script} "$@"\n'})
    lock = tiny.root / "requirements.lock"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    with lock.open("a") as file:
        file.write(f"uv==1 \\\n    --hash=sha256:{digest}\n    # via tiny\n")
    code, said = tiny.run(PIP_FIND_LINKS=str(index), UV_FIND_LINKS=str(index))
    assert code == 0, said
    assert tiny.works()
    assert list(tiny.venv.rglob("checker-1.dist-info"))
    assert f"--requirement {lock}\n" in asked.read_text()
    assert ("pip installs everything" in said) == (not works)


def write_wheel(path: Path, files: dict[str, str], more: str = "") -> None:
    """Write a wheel of pure Python; ``more`` are lines of its metadata."""
    name, version, *_ = path.name.split("-")
    info = f"{name}-{version}.dist-info"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}"
    wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {**files, f"{info}/METADATA": about, f"{info}/WHEEL": wheel}
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**files, f"{info}/RECORD": ""}.items():
            entry = zipfile.ZipInfo(file)
            entry.external_attr = 0o100755 << 16
            archive.writestr(entry, text)


def _with_an_extra_and_a_newer_version(held: Checkout) -> Path:
    """Lock a package that requires another with an extra; return the index.

    The index also has a newer version of the other. pip resolves a name with an extra
    apart from the locked one, takes the newest, and then lacks its hash.
    """
    index = held.root.parent / "index"
    index.mkdir()
    lock = ""
    for name, version, lines in (
        ("framework", "1", "Requires-Dist: checker[mail]>=1\n"),
        ("checker", "1", "Provides-Extra: mail\n"),
        ("checker", "2", "Provides-Extra: mail\n"),
    ):
        wheel = index / f"{name}-{version}-py3-none-any.whl"
        write_wheel(wheel, {}, lines)
        if version == "1":
            digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
            lock += f"{name}=={version} --hash=sha256:{digest}\n"
    (held.root / "requirements.lock").write_text(lock)
    return index


def test_misleading_settings_of_the_caller_do_not_matter(held: Checkout) -> None:
    release(held)
    code, said = held.run(
        PIP_USER="1",
        PIP_TARGET="/nowhere",
        PIP_REQUIRE_HASHES="1",
        UV_SYSTEM_PYTHON="1",
        PYTHONPATH="/nowhere",
        PYTHONDONTWRITEBYTECODE="1",
    )
    assert code == 0, said
    assert held.works()
    assert list(held.venv.rglob("__pycache__/tiny.*.pyc"))


def test_without_a_python_it_says_what_to_install(tmp_path: Path) -> None:
    tiny = checkout(tmp_path, str(tmp_path / "tools"))
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "cat").symlink_to(shutil.which("cat") or "/bin/cat")
    old = folder / "python3"
    old.write_text('#!/bin/sh\n[ "$1" != --version ] || echo Python 3.9.6\nexit 1\n')
    old.chmod(0o755)
    code, said = tiny.run()
    assert code == 1
    assert "Python 3.11 or newer" in said
    assert "apt install python3-venv" in said.replace("python3 ", "")
    assert not tiny.venv.exists()


def test_an_older_python3_is_passed_over_for_a_newer_one(tmp_path: Path) -> None:
    path = tools(tmp_path / "tools", "uv")
    tiny = checkout(tmp_path, path.partition(":")[0] + ":/usr/bin:/bin")
    folder = tmp_path / "tools"
    (folder / "python3.13").symlink_to((folder / "python3").resolve())
    (folder / "python3").unlink()
    old = folder / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert tiny.run()[0] == 0
    assert tiny.works()


def test_the_launcher_runs_it_and_then_the_command(held: Checkout) -> None:
    """The whole way, with nothing replaced: ``bin/wc list`` in a new checkout."""
    release(held)
    env = {"HOME": str(held.root.parent), "PATH": held.path, "UV_OFFLINE": "1"}
    env["UV_CACHE_DIR"] = str(held.root.parent / "cache")
    for _ in range(2):
        command = [os.fspath(held.root / "bin" / "wc"), "list"]
        done = subprocess.run(
            command, check=False, env=env, cwd="/", capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (0, "tiny\n"), done.stderr
    assert done.stderr == ""
    assert held.builds == 1
