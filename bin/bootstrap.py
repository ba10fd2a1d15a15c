"""Make or update the checkout's environment, ``.venv``: the work of bin/bootstrap.

It runs before anything is installed, so it uses only the standard library.

Its promises, however it is started, stopped or run concurrently:

* ``.venv/.complete`` is there only while the environment has everything in the
  lock. Its text identifies what the environment was made from.
* ``.venv/.building`` is there while it is being changed. If a killed start left it
  behind, the next one empties the environment and begins again.
* Of several starts only one works, under ``flock`` on ``.venv/.bootstrap.lock`` (uv
  has a ``.venv/.lock`` of its own); the others wait and then find nothing to do.
  The installers inherit the locked descriptor, so the lock outlives a killed
  bootstrap for as long as its installer still writes.
"""
# ruff: noqa: INP001  (bin/ holds scripts, not a package)

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OLDEST_PYTHON = (3, 11)
LOCK_NAME = ".bootstrap.lock"

# The scripts that the wheel copies. An editable install copies them too, and a
# copy would go stale: in the checkout's environment they are links.
SHARED_SCRIPTS = ("wc", "wc-statusline", "wc-guard")

# Settings of the caller that would redirect an installation, or refuse the
# project itself, which has no hash.
MISLEADING = (
    "PIP_PREFIX",
    "PIP_REQUIRE_HASHES",
    "PIP_ROOT",
    "PIP_TARGET",
    "PIP_USER",
    "UV_SYSTEM_PYTHON",
)

# The lines of a lock about uv: all but the last end in a backslash.
UV = re.compile(r"^uv==(?:[^\n]*\\\n)*[^\n]*$", re.MULTILINE)


class BootstrapError(Exception):
    """A step failed; the text is for the person who started this."""


class Installer:
    """pip, or uv if it is installed: the programs that fill an environment.

    If a lock names uv, pip installs only that, and uv the rest, in a quarter of the
    time. Where that does not work, pip installs everything.
    """

    def __init__(self, venv: Path, lock_descriptor: int) -> None:
        self.uv = shutil.which("uv")
        self.python = venv / "bin" / "python"
        self._venv = venv
        self._lock_descriptor = lock_descriptor

    def create(self) -> None:
        """Make an empty environment with the Python that runs this."""
        # The real file: a link to /usr/bin/python3 would outlive an upgrade
        # from 3.12 to 3.13, which leaves the environment empty.
        base = os.path.realpath(sys.executable)
        if self.uv:
            self._run(
                self.uv,
                "venv",
                "--quiet",
                "--no-project",
                "--allow-existing",
                "--python",
                base,
                self._venv,
            )
        else:
            self._run(base, "-I", "-m", "venv", self._venv)

    def install_locked(self, lock: Path) -> None:
        """Install what a lock lists, and compile it."""
        # It is complete, and is not resolved again: pip would look up a package that
        # is required with an extra, find its newest version, and miss the hash.
        options = ("--no-deps", "--require-hashes", "--requirement")
        uv = UV.search(lock.read_text(encoding="utf-8"))
        if uv and not self.uv:
            only_uv = self._venv / ".uv.lock"
            only_uv.write_text(f"{uv[0]}\n", encoding="utf-8")
            try:
                self._pip("--only-binary", "uv", *options, only_uv)
                self._uv(self.python.with_name("uv"), *options, lock)
            except (BootstrapError, OSError) as error:
                say(f"{error}; pip installs everything")
            else:
                return
            finally:
                only_uv.unlink()
        self.install(*options, lock)

    def install(self, *arguments: str | Path) -> None:
        """Install according to pip's arguments, and compile everything."""
        if self.uv:
            self._uv(self.uv, *arguments)
        else:
            self._pip(*arguments)

    def _uv(self, uv: str | Path, *arguments: str | Path) -> None:
        quiet = ("--quiet", "--compile-bytecode", "--python", self.python)
        self._run(uv, "pip", "install", *quiet, *arguments)

    def _pip(self, *arguments: str | Path) -> None:
        quiet = ("-qq", "--disable-pip-version-check", "--no-input", "--compile")
        self._run(self.python, "-I", "-m", "pip", "install", *quiet, *arguments)

    def _run(self, *command: str | Path) -> None:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in MISLEADING and not name.startswith("PYTHON")
        }
        words = [os.fspath(word) for word in command]
        done = subprocess.run(  # noqa: S603 (the words are this file's own)
            words,
            check=False,
            env=environment,
            pass_fds=(self._lock_descriptor,),
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
        )
        if done.returncode:
            message = f"this failed with status {done.returncode}: {shlex.join(words)}"
            raise BootstrapError(message)


class Environment:
    """The folder ``.venv`` of a checkout, while this process holds its lock."""

    def __init__(self, root: Path, lock_descriptor: int) -> None:
        self._root = root
        self._venv = root / ".venv"
        self._complete = self._venv / ".complete"
        self._building = self._venv / ".building"
        self._installer = Installer(self._venv, lock_descriptor)

    def ensure(self, *, dev: bool) -> None:
        """Bring the environment up to date; a dev environment stays one."""
        stamp = self._complete.read_text() if self._complete.exists() else ""
        dev = dev or stamp.startswith("dev ")
        python = self._python_version()
        if (
            python
            and stamp == self._wanted_stamp(python, dev=dev)
            and not self._building.exists()
        ):
            # The launcher compares times: a touched but equal file needs no work.
            os.utime(self._complete)
            return
        self._build(python, dev=dev)

    def _build(self, python: str, *, dev: bool) -> None:
        lock = self._lock_file(dev=dev)
        update = self._can_update(python)
        self._building.touch()
        self._complete.unlink(missing_ok=True)
        if update:
            say(f"updating {self._venv}")
        else:
            say(f"making {self._venv}")
            self._empty()
            self._installer.create()
        # Taken now, so that the next start notices a change made meanwhile.
        stamp = self._wanted_stamp(self._python_version(), dev=dev)
        by = "uv" if self._installer.uv else "pip, up to a minute"
        say(f"installing from {lock.name} with {by}")
        self._installer.install_locked(lock)
        self._installer.install(
            "--no-deps", "--no-build-isolation", "--editable", self._root
        )
        self._link_scripts()
        # In this order: after a kill between the two, the next start updates in place.
        self._building.unlink()
        self._write_stamp(stamp)
        say("done")

    def _link_scripts(self) -> None:
        for name in SHARED_SCRIPTS:
            if (self._root / "bin" / name).exists():
                copy = self._venv / "bin" / name
                copy.unlink(missing_ok=True)
                copy.symlink_to(Path("..", "..", "bin", name))

    def _empty(self) -> None:
        for entry in self._venv.iterdir():
            if entry.name in {LOCK_NAME, self._building.name}:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def _python_version(self) -> str:
        """The version of the environment's Python, or "" if it cannot be used."""
        version = self._ask_python("import sys; print(*sys.version_info[:2])")
        if tuple(map(int, version.split())) < OLDEST_PYTHON:
            return ""
        return version.replace(" ", ".")

    def _can_update(self, python: str) -> bool:
        """Return whether the installer can update the environment in place."""
        whole = bool(python) and not self._building.exists()
        # uv makes environments without pip; uv may be gone by now.
        return whole and bool(
            self._installer.uv or self._ask_python("import pip; print(pip)")
        )

    def _ask_python(self, script: str) -> str:
        """The output of a script in the environment's Python; "" if it fails."""
        try:
            return subprocess.run(  # noqa: S603 (the words are this file's own)
                [self._installer.python, "-I", "-c", script],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            ).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    def _lock_file(self, *, dev: bool) -> Path:
        return self._root / ("requirements-dev.lock" if dev else "requirements.lock")

    def _wanted_stamp(self, python: str, *, dev: bool) -> str:
        sources = (self._lock_file(dev=dev), self._root / "pyproject.toml")
        digest = hashlib.sha256(
            b"\0".join(source.read_bytes() for source in sources)
        ).hexdigest()
        return f"{'dev' if dev else 'runtime'} {python} {digest}\n"

    def _write_stamp(self, stamp: str) -> None:
        new = self._complete.with_name(".complete.new")
        new.write_text(stamp)
        new.replace(self._complete)


def say(text: str) -> None:
    """Print progress for the waiting person, on standard error."""
    sys.stderr.write(f"bootstrap: {text}\n")
    sys.stderr.flush()


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the lock file's lock. Says so if it has to wait."""
    path.parent.mkdir(exist_ok=True)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another start is working on {path.parent}; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the command line. Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="bin/bootstrap", description="Make or update this checkout's .venv."
    )
    parser.add_argument(
        "--dev", action="store_true", help="also install what bin/test needs"
    )
    options = parser.parse_args(arguments)
    root = Path(__file__).resolve().parent.parent
    try:
        with locked(root / ".venv" / LOCK_NAME) as lock_descriptor:
            Environment(root, lock_descriptor).ensure(dev=options.dev)
    except BootstrapError as error:
        say(str(error))
        say("the environment is incomplete; fix that and run bin/bootstrap again")
        return 1
    except OSError as error:
        say(f"cannot make {root / '.venv'}: {error}")
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next start begins again")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
