"""The wheel, installed by pip, by uv and by pipx: what lands on someone's PATH.

uv and pipx fetch the newest versions of what the package needs, into a cache of this
test run's own: nothing outside the temporary folders is touched.
"""

from __future__ import annotations

import ensurepip
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from tests.observe.front.asking import hello, line

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("wc", "wc-guard", "wc-statusline")
COMMANDS = (*COPIED, "wc-cli", "wc-observe")
MANUAL = ["wc-cli.1", "wc-observe.1", "wc-statusline.1"]
SYSTEM_PATH = "/usr/bin:/bin"
IMPORTS = {"PYTHONPROFILEIMPORTTIME": "1"}


def beside_python(name: str) -> str:
    """A program of the dev environment that this test runs in."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        pytest.skip(f"{path} is missing (bin/test makes it): {name} is NOT tested")
    return str(path)


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    """Run a command that must work, in an environment for this test alone."""
    kept = {
        name: value
        for name, value in os.environ.items()
        # What says how this machine reaches a package index.
        if name.startswith(("PIP_", "UV_", "SSL_", "REQUESTS_")) or name == "LANG"
    }
    done = subprocess.run(
        [os.fspath(word) for word in command],
        check=False,
        cwd=cwd,
        env={**kept, "PATH": SYSTEM_PATH, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, made by the build backend in the lock."""
    folder = tmp_path_factory.mktemp("dist")
    home = str(tmp_path_factory.mktemp("home"))
    command = (sys.executable, "-m", "hatchling", "build", "--target", "wheel")
    run(*command, "--directory", folder, HOME=home)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One cache for this run: a setting of uv. It takes the newest versions, as it does
    for people."""
    settings = {"UV_CACHE_DIR": str(tmp_path_factory.mktemp("uv"))}
    command = (beside_python("uv"), "pip", "compile", "-q", "--no-deps", "-")
    asked = subprocess.run(
        command,
        check=False,
        input=b"typer",
        capture_output=True,
        env=os.environ | settings,
    )
    if asked.returncode:
        pytest.skip(f"NO PACKAGE INDEX: {asked.stderr.decode()}")
    return settings


def check_installed(folder: Path, tmp_path: Path) -> None:
    """The commands lie together, are ours, and do what they are there for."""
    for name in COMMANDS:
        assert os.access(folder / name, os.X_OK), name
    for name in COPIED:
        assert (folder / name).read_bytes() == (ROOT / "bin" / name).read_bytes()

    settings = {"HOME": str(tmp_path), "PATH": f"{folder}:{SYSTEM_PATH}"}
    words = tmp_path / "words"
    words.write_text("one two\nthree\n")
    for arguments in (("words",), ("-l", "words"), ("--version",)):
        ours = run(folder / "wc", *arguments, cwd=tmp_path, **settings)
        assert ours == run("wc", *arguments, cwd=tmp_path, HOME=str(tmp_path))
    version = run(folder / "wc", "version", cwd=tmp_path, **settings)
    assert version == run(folder / "wc-cli", "version", cwd=tmp_path, **settings)
    assert version


def check_server(folder: Path, tmp_path: Path) -> None:
    """The server answers what clients ask first without FastMCP."""
    messages = [*hello("2025-11-25", {"name": "codex-mcp-client", "version": "1"})]
    messages += [{"id": 1, "method": "tools/list"}]
    done = subprocess.run(
        [folder / "wc-observe"],
        input=b"".join(map(line, messages)),
        capture_output=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": SYSTEM_PATH, **IMPORTS},
        check=True,
    )
    _, listed = map(json.loads, done.stdout.splitlines())
    assert len(listed["result"]["tools"]) > 10
    rows = done.stderr.decode().split("\n")
    imported = {row.rpartition("|")[2].strip() for row in rows}
    assert "wc_observe.front.opening" in imported
    assert "fastmcp" not in imported


def unpacked_pip(folder: Path) -> str:
    """The pip that comes with this Python: to install it takes three times as long."""
    # Debian keeps the wheels of ensurepip in a folder of its own.
    debian = Path(
        sysconfig.get_config_var("WHEEL_PKG_DIR") or "/usr/share/python-wheels"
    )
    folders = (Path(ensurepip.__file__).parent / "_bundled", debian)
    pip = next(path for folder in folders for path in folder.glob("pip-*.whl"))
    with zipfile.ZipFile(pip) as wheel:
        wheel.extractall(folder)
    return str(folder)


def test_pip(wheel: Path, tmp_path: Path) -> None:
    """With pip: it puts the four commands into one folder."""
    venv = tmp_path / "venv"
    home = str(tmp_path)
    run(sys.executable, "-m", "venv", "--without-pip", venv, HOME=home)
    python = venv / "bin" / "python"
    install = ("-m", "pip", "install", "-q", "--no-deps", wheel)
    run(python, *install, HOME=home, PYTHONPATH=unpacked_pip(tmp_path / "pip"))
    # The dependencies are those that this test runs with: nothing is fetched.
    paths = {"base": str(venv), "platbase": str(venv)}
    site = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    # After the package itself, so that it is not the checkout that is tested.
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    check_installed(venv / "bin", tmp_path)
    manual = venv / "share" / "man" / "man1"
    assert sorted(path.name for path in manual.iterdir()) == MANUAL
    where = "import wc_cli; print(wc_cli.__file__)"
    assert run(python, "-c", where, HOME=home).startswith(str(site))


def test_uv_tool(wheel: Path, downloads: dict[str, str], tmp_path: Path) -> None:
    """``uv tool install`` links all four commands, scripts included."""
    uv = beside_python("uv")
    variables = {
        "HOME": str(tmp_path),
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
    }
    command = (uv, "tool", "install", "--python", sys.executable, wheel)
    run(*command, cwd=tmp_path, **downloads, **variables)
    assert sorted(path.name for path in (tmp_path / "bin").iterdir()) == sorted(
        COMMANDS
    )
    check_installed(tmp_path / "bin", tmp_path)
    check_server(tmp_path / "bin", tmp_path)


@pytest.mark.long
def test_pipx(wheel: Path, downloads: dict[str, str], tmp_path: Path) -> None:
    """``pipx install`` links all four commands, scripts included."""
    pipx, uv = beside_python("pipx"), beside_python("uv")
    variables = {
        "HOME": str(tmp_path),
        "PATH": f"{Path(uv).parent}:{SYSTEM_PATH}",
        "PIPX_HOME": str(tmp_path / "pipx"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_MAN_DIR": str(tmp_path / "man"),
    }
    # pipx's other backend is pip, whose own part the test above does.
    command = (pipx, "install", "--backend", "uv", "--python", sys.executable, wheel)
    run(*command, cwd=tmp_path, **downloads, **variables)
    assert sorted(path.name for path in (tmp_path / "bin").iterdir()) == sorted(
        COMMANDS
    )
    check_installed(tmp_path / "bin", tmp_path)
    manual = tmp_path / "man" / "man1"
    assert sorted(path.name for path in manual.iterdir()) == MANUAL


@pytest.mark.long
def test_the_pip_of_debian_12_installs_the_lock(
    downloads: dict[str, str], tmp_path: Path
) -> None:
    settings = {**downloads, "HOME": str(tmp_path)}
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=tmp_path, **settings)
    python, uv = venv / "bin" / "python", beside_python("uv")
    run(
        uv,
        "pip",
        "install",
        "-q",
        "--python",
        python,
        "pip==23.0.1",
        cwd=tmp_path,
        **settings,
    )
    lock = ROOT / "requirements.lock"
    run(python, "-m", "pip", "install", "-q", "-r", lock, cwd=tmp_path, **settings)
    assert "fastmcp" in run(python, "-m", "pip", "list", cwd=tmp_path, **settings)
