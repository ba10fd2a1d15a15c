"""``bin/wc``, run for real under every shell that is installed.

Each test puts a copy of the launcher, whose first line names one shell, into a
folder of its own beside a ``wc-cli`` that reports what reached it, and compares
what comes out with the system's ``wc`` given the same arguments and input.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_cli.run.options import Options
from wc_cli.run.table import ALIASES, COMMANDS, INSTEAD, SYNONYMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BIN = Path(__file__).resolve().parents[2] / "bin"
LAUNCHER = BIN / "wc"
SYSTEM_PATH = "/usr/bin:/bin"
SYSTEM_WC = Path(shutil.which("wc", path=SYSTEM_PATH) or "/usr/bin/wc")

# As /bin/sh would be one of these: started through a link named sh.
SHELLS = ("dash", "bash", "busybox", "zsh", "mksh")
INSTALLED = [shell for shell in SHELLS if shutil.which(shell)]

# Reports what it was given, byte for byte: every argument ends with a NUL.
FAKE_CLI = """#!/bin/sh
printf 'cli:'
printf '%s\\0' "$@"
"""

Outcome = tuple[int, bytes, bytes]


@dataclass(frozen=True)
class Box:
    """A home, a folder to work in, and a launcher installed under one shell."""

    root: Path
    shebang: str

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def path(self) -> str:
        return f"{self.bin}:{SYSTEM_PATH}"

    def install(self, folder: Path, *, cli: str | None = FAKE_CLI) -> Path:
        """Put a launcher into the folder, with a wc-cli unless that is None."""
        folder.mkdir(parents=True, exist_ok=True)
        _, newline, rest = LAUNCHER.read_text().partition("\n")
        script(folder / "wc", f"#!{self.shebang}{newline}{rest}")
        if cli is not None:
            script(folder / "wc-cli", cli)
        return folder / "wc"

    def run(
        self,
        *command: str | Path,
        path: str | None = "",
        stdin: bytes = b"one two\nthree\n",
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run a command; a name is looked up on PATH, which may be None: unset."""
        env = {"HOME": str(self.root), "LC_ALL": "C.UTF-8", **(env or {})}
        if path is not None:
            env["PATH"] = path or self.path
        done = subprocess.run(
            [os.fspath(word) for word in command],
            check=False,
            cwd=self.work,
            env=env,
            input=stdin,
            capture_output=True,
            timeout=20,
        )
        return done.returncode, done.stdout, done.stderr

    def system(self, *arguments: str, stdin: bytes = b"one two\nthree\n") -> Outcome:
        """What the system's wc does with these arguments and this input."""
        return self.run("wc", *arguments, path=str(SYSTEM_WC.parent), stdin=stdin)


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def reached_cli(*arguments: str) -> Outcome:
    """The outcome when exactly these arguments reached the fake wc-cli."""
    return 0, b"cli:" + b"".join(os.fsencode(a) + b"\0" for a in arguments), b""


def shim(folder: Path, *lines: str) -> Path:
    """A wrapper named wc that leaves a mark in ``$HOME/shim.log`` at each start."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(("#!/bin/sh", f'echo {folder.name} >>"$HOME/shim.log"', *lines))
    return script(folder / "wc", f"{text}\n")


def shell_path(shell: str, folder: Path) -> str:
    """The interpreter for a launcher's first line."""
    if shell == "sh":
        return "/bin/sh"
    program = shutil.which(shell)
    assert program
    folder.mkdir()
    link = folder / "sh"
    link.symlink_to(program)
    return str(link)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shells_of_this_machine(shell: str) -> None:
    if shell not in INSTALLED:
        pytest.skip(f"{shell} is not installed: the launcher is NOT tested under it")
    words = [*([shell, "sh"] if shell == "busybox" else [shell]), "-c", "echo 1"]
    assert subprocess.run(words, capture_output=True, check=True).stdout == b"1\n"


def fill(work: Path) -> None:
    work.mkdir()
    (work / "a").write_bytes(b"alpha beta\ngamma\n")
    (work / "b").write_bytes("naïve café\nno newline at the end".encode())
    (work / "binary").write_bytes(bytes(range(256)) * 40)
    (work / "empty").write_bytes(b"")
    (work / "list").write_bytes(b"1\n2\n3\n")
    (work / "new").write_bytes(b"4\n")
    (work / "two words").write_bytes(b"x y z\n")
    (work / "new\nline").write_bytes(b"q\n")
    (work / "names").write_bytes(b"a\0two words\0list\0")


@pytest.fixture(params=["sh", *INSTALLED])
def box(request: pytest.FixtureRequest, tmp_path: Path) -> Box:
    """A launcher under each shell in turn."""
    made = Box(tmp_path, shell_path(request.param, tmp_path / "shell"))
    fill(made.work)
    made.install(made.bin)
    return made


def subcommands() -> list[str]:
    """The launcher's own list, from between its two marks."""
    block = LAUNCHER.read_text().partition("# BEGIN commands")[2]
    lines = block.partition("# END commands")[0].splitlines()[1:]
    words = " ".join(lines).replace("\\", " ").replace("|", " ")
    return words.replace(") ;;", " ").split()


def test_the_committed_launcher_is_a_posix_sh_script_with_its_mark_on_line_two() -> (
    None
):
    first, second = LAUNCHER.read_text().splitlines()[:2]
    assert first == "#!/bin/sh"
    assert second.startswith("# watercooler-launcher")
    assert os.access(LAUNCHER, os.X_OK)


def test_the_launcher_has_every_command_of_the_command_line() -> None:
    names = subcommands()
    assert sorted(names) == sorted([*COMMANDS, *ALIASES, *INSTEAD])


SYSTEMS: tuple[tuple[str, ...], ...] = (
    (),
    ("-l",),
    ("-c",),
    ("-m",),
    ("-w",),
    ("-L",),
    ("-lwc", "a"),
    ("-c", "binary"),
    ("binary",),
    ("empty",),
    ("a", "b"),
    ("a", "-", "b"),
    ("-",),
    ("--", "a"),
    ("--", "list"),
    ("-l", "list"),
    ("list", "new"),
    ("list",),
    ("--help",),
    ("--version",),
    ("--lines", "a"),
    ("--files0-from=names",),
    ("--files0-from=-",),
    ("--files0-from=nofile",),
    ("nofile",),
    ("a", "nofile", "b"),
    ("--nonsense",),
    ("-l", "--nonsense", "list"),
    (".",),
    ("",),
    ("two words",),
    ("new\nline",),
    ("*",),
    ("lis",),
    ("list new",),
    ("| new |",),
    ("init | new",),
    ("-n", "say"),
)


@pytest.mark.parametrize("arguments", SYSTEMS, ids=repr)
def test_anything_else_is_the_systems_wc_byte_for_byte(
    box: Box, arguments: tuple[str, ...]
) -> None:
    """Output, messages and exit code are those of the system's wc."""
    stdin = b"a\0list\0" if "--files0-from=-" in arguments else bytes(range(256)) * 9
    code, out, err = box.system(*arguments, stdin=stdin)
    if arguments in {("--help",), ("--version",), ("nofile",), ("lis",)}:
        err = b"Watercooler: wc help\n" + err
    assert box.run("wc", *arguments, stdin=stdin) == (code, out, err)


@pytest.mark.parametrize("name", subcommands())
def test_a_subcommand_reaches_wc_cli(tmp_path: Path, name: str) -> None:
    box = Box(tmp_path, "/bin/sh")
    box.work.mkdir()
    box.install(box.bin)
    assert box.run("wc", name, "--json") == reached_cli(name, "--json")


def test_global_options_before_a_command_reach_wc_cli(box: Box) -> None:
    for param in Options.groups().popitem()[1]:
        flag = param.flags[0]
        assert box.run("wc", flag, "list") == reached_cli(flag, "list")
        if param.metavar:
            assert box.run("wc", f"{flag}=x", "list") == reached_cli(
                f"{flag}=x", "list"
            )


def test_arguments_reach_wc_cli_unchanged(box: Box) -> None:
    arguments = (
        "say",
        "two words",
        "",
        "new\nline\n",
        "*",
        "[a-z]?",
        "$HOME `id` $(id)",
        "back\\slash\\n",
        "\"quoted'",
        "-n",
        "--",
        "naïve 🎾",
        "\udcff not UTF-8",
    )
    assert box.run("wc", *arguments) == reached_cli(*arguments)


def test_wc_cli_gets_the_input_and_gives_the_exit_status(box: Box) -> None:
    script(box.bin / "wc-cli", "#!/bin/sh\ncat\necho oops >&2\nexit 4\n")
    outcome = box.run("wc", "say", "x", stdin=b"body\n")
    assert outcome == (4, b"body\n", b"oops\n")


class TestFilesNamedLikeSubcommands:
    def test_a_glob_over_such_files_is_the_systems(self, box: Box) -> None:
        """``wc *`` counts the files ``list`` and ``new`` like any others."""
        names = sorted(entry.name for entry in box.work.iterdir() if entry.name > "l")
        assert names[0] == "list"
        assert box.run("wc", *names) == box.system(*names)

    def test_a_folder_and_a_dangling_link_may_be_among_them(self, box: Box) -> None:
        (box.work / "src").mkdir()
        (box.work / "zero").symlink_to("nowhere")
        names = ("list", "new", "src", "zero")
        assert box.run("wc", *names) == box.system(*names)

    def test_one_argument_that_is_not_a_file_makes_it_ours(self, box: Box) -> None:
        assert box.run("wc", "list", "--json") == reached_cli("list", "--json")
        assert box.run("wc", "read", "a") == reached_cli("read", "a")

    def test_folders_alone_have_no_words_so_it_is_ours(self, box: Box) -> None:
        """``wc demo`` works in a project with a folder named demo."""
        (box.work / "demo").mkdir()
        assert box.run("wc", "demo") == reached_cli("demo")


class TestLinks:
    """The launcher is often run through links: uv and pipx install it so."""

    @pytest.fixture
    def links(self, box: Box) -> Path:
        folder = box.root / "links"
        folder.mkdir()
        return folder

    def agree(self, box: Box, *, path: str) -> None:
        assert box.run("wc", "-l", "a", "nofile", path=path) == box.system(
            "-l", "a", "nofile"
        )
        assert box.run("wc", "say", "x", path=path) == reached_cli("say", "x")

    def test_absolute(self, box: Box, links: Path) -> None:
        (links / "wc").symlink_to(box.bin / "wc")
        self.agree(box, path=f"{links}:{SYSTEM_PATH}")

    def test_relative(self, box: Box, links: Path) -> None:
        (links / "wc").symlink_to("../bin/wc")
        self.agree(box, path=f"{links}:{SYSTEM_PATH}")

    def test_chain(self, box: Box, links: Path) -> None:
        (links / "deep").mkdir()
        (links / "wc").symlink_to("deep/middle")
        (links / "deep" / "middle").symlink_to(links / "deep" / "last")
        (links / "deep" / "last").symlink_to("../../bin/wc")
        self.agree(box, path=f"{links}:{SYSTEM_PATH}")

    def test_folder(self, box: Box, links: Path) -> None:
        (links / "there").symlink_to(box.bin)
        self.agree(box, path=f"{links / 'there'}:{SYSTEM_PATH}")

    def test_odd_names(self, box: Box, links: Path) -> None:
        odd = box.root / " odd\nfolder\n"
        box.install(odd)
        (links / "wc").symlink_to("../ odd\nfolder\n/wc")
        self.agree(box, path=f"{links}:{SYSTEM_PATH}")
        (odd / "ends in newline\n").symlink_to("wc")
        (links / "wc").unlink()
        (links / "wc").symlink_to(odd / "ends in newline\n")
        self.agree(box, path=f"{links}:{SYSTEM_PATH}")

    def test_link_and_target_both_on_path(self, box: Box, links: Path) -> None:
        (links / "wc").symlink_to(box.bin / "wc")
        self.agree(box, path=f"{links}:{box.bin}:{SYSTEM_PATH}")
        self.agree(box, path=f"{box.bin}:{links}:{SYSTEM_PATH}")

    def test_under_another_name(self, box: Box, links: Path) -> None:
        link = links / "watercooler"
        link.symlink_to(box.bin / "wc")
        assert box.run(link, "say", "x") == reached_cli("say", "x")
        assert box.run(link, "-l", "nofile") == box.system("-l", "nofile")


class TestPath:
    """Which wc the system's is, for every PATH that someone has."""

    def agree(self, box: Box, path: str | None, command: str | Path = "wc") -> None:
        arguments = ("-l", "a", "nofile")
        assert box.run(command, *arguments, path=path) == box.system(*arguments)

    def test_two_installed_copies(self, box: Box) -> None:
        second = box.root / "second"
        box.install(second)
        self.agree(box, f"{box.bin}:{second}:{SYSTEM_PATH}")
        self.agree(box, f"{second}:{box.bin}:{second}:{box.bin}:{SYSTEM_PATH}")

    def test_started_by_its_path(self, box: Box) -> None:
        for path in (SYSTEM_PATH, box.path, f"{SYSTEM_PATH}:{box.bin}"):
            self.agree(box, path, box.bin / "wc")
            self.agree(box, path, "../bin/wc")

    def test_unset(self, box: Box) -> None:
        self.agree(box, None, box.bin / "wc")
        assert box.run(box.bin / "wc", "say", path=None) == reached_cli("say")

    def test_empty(self, box: Box) -> None:
        assert box.run(
            "/usr/bin/env", "PATH=", box.bin / "wc", "-l", "nofile"
        ) == box.system("-l", "nofile")

    def test_without_any_other_wc(self, box: Box) -> None:
        """The usual places are asked even where PATH does not name them."""
        self.agree(box, str(box.bin))

    def test_empty_elements_are_the_current_folder(self, box: Box) -> None:
        box.install(box.work)
        for path in (f":{SYSTEM_PATH}", f".:{SYSTEM_PATH}", f"::{box.path}:"):
            self.agree(box, path)
            assert box.run("wc", "say", "x", path=path) == reached_cli("say", "x")

    def test_a_wc_in_an_empty_element_is_found(self, box: Box) -> None:
        shutil.copy2(SYSTEM_WC, box.work / "wc")
        for path in (f"{box.bin}:", f"{box.bin}::/nowhere", f"{box.bin}:."):
            self.agree(box, path)

    def test_odd_folders(self, box: Box) -> None:
        odd = box.root / "a b\n*\n"
        box.install(odd)
        other = box.root / " -x\n"
        other.mkdir()
        self.agree(box, f"{odd}:{other}:/nowhere:{SYSTEM_PATH}")
        shutil.copy2(SYSTEM_WC, other / "wc")
        self.agree(box, f"{odd}:{other}")

    def test_trailing_slash(self, box: Box) -> None:
        self.agree(box, f"{box.bin}/:/usr/bin/:/bin/")

    def test_what_cannot_be_run_is_passed_over(self, box: Box) -> None:
        plain, folder = box.root / "plain", box.root / "folder"
        plain.mkdir()
        (plain / "wc").write_text("#!/bin/sh\necho never\n")
        (folder / "wc").mkdir(parents=True)
        (folder / "wc").chmod(0o755)
        self.agree(box, f"{box.bin}:{plain}:{folder}:{SYSTEM_PATH}")

    def test_a_program_elsewhere_on_path_comes_first(self, box: Box) -> None:
        """Its bytes are looked at for our mark, whatever they are."""
        other = box.root / "other"
        other.mkdir()
        shutil.copy2(SYSTEM_WC, other / "wc")
        self.agree(box, f"{box.bin}:{other}")

    def test_run_by_a_shell_as_a_file(self, box: Box) -> None:
        """``sh wc`` starts it by a name without a slash."""
        box.install(box.work)
        command = (box.shebang, "wc", "-l", "nofile")
        assert box.run(*command) == box.system("-l", "nofile")
        assert box.run(box.shebang, "wc", "say", "x") == reached_cli("say", "x")


class TestShims:
    """Wrappers named wc that start another wc, before and after ours on PATH."""

    def starts(self, box: Box) -> list[str]:
        log = box.root / "shim.log"
        names = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return names

    def agree(self, box: Box, path: str) -> None:
        arguments = ("-l", "a", "nofile")
        assert box.run("wc", *arguments, path=path) == box.system(*arguments)

    def test_earlier_by_path(self, box: Box) -> None:
        shim(box.root / "early", f'exec {box.bin}/wc "$@"')
        path = f"{box.root}/early:{box.path}"
        self.agree(box, path)
        assert self.starts(box) == ["early"]
        assert box.run("wc", "say", "x", path=path) == reached_cli("say", "x")

    def test_earlier_by_name_without_itself(self, box: Box) -> None:
        shim(box.root / "early", f'PATH="{box.path}" wc "$@"')
        self.agree(box, f"{box.root}/early:{box.path}")
        assert self.starts(box) == ["early"]

    def test_later_by_name(self, box: Box) -> None:
        """It finds us on the unchanged PATH; we do not start it a second time."""
        shim(box.root / "late", 'wc "$@"')
        self.agree(box, f"{box.bin}:{box.root}/late:{SYSTEM_PATH}")
        assert self.starts(box) == ["late"]

    def test_later_by_path(self, box: Box) -> None:
        shim(box.root / "late", f'exec {box.bin}/wc "$@"')
        self.agree(box, f"{box.bin}:{box.root}/late:{SYSTEM_PATH}")
        assert self.starts(box) == ["late"]

    def test_later_without_itself(self, box: Box) -> None:
        shim(box.root / "late", f'PATH="{SYSTEM_PATH}" exec wc "$@"')
        self.agree(box, f"{box.bin}:{box.root}/late:{SYSTEM_PATH}")
        assert self.starts(box) == ["late"]

    def test_of_a_version_manager(self, box: Box) -> None:
        """Such a one puts our folder first on PATH before it starts us."""
        hidden = box.root / "versions"
        box.install(hidden)
        shim(box.root / "shims", f'PATH="{hidden}:$PATH" exec wc "$@"')
        self.agree(box, f"{box.root}/shims:{SYSTEM_PATH}")
        assert set(self.starts(box)) == {"shims"}

    def test_around_our_two_copies(self, box: Box) -> None:
        second = box.root / "second"
        box.install(second)
        shim(box.root / "one", f'exec {second}/wc "$@"')
        shim(box.root / "two", f'exec {box.bin}/wc "$@"')
        folders = [box.bin, box.root / "one", second, box.root / "two", SYSTEM_PATH]
        self.agree(box, ":".join(map(str, folders)))
        assert len(self.starts(box)) <= 2

    def test_shims_alone_end_with_an_error_that_says_what_to_do(self, box: Box) -> None:
        """With no system wc anywhere the wrapper is tried once, and that is it."""
        launcher = box.bin / "wc"
        text = launcher.read_text().replace("/usr/bin:/bin:", "/nowhere:")
        script(launcher, text)
        shim(box.root / "late", f'exec {launcher} "$@"')
        code, out, err = box.run(launcher, "-l", "a", path=f"{box.bin}:{box.root}/late")
        assert (code, out) == (127, b"")
        assert self.starts(box) == ["late"]
        assert b"wc: found no system wc" in err
        assert b"wc-cli" in err
        assert os.fsencode(box.root / "late" / "wc") in err

    def test_a_shim_sees_the_whole_path(self, box: Box) -> None:
        shim(box.root / "late", 'printf %s "$PATH"')
        path = f"/first:{box.bin}:{box.root}/late:{SYSTEM_PATH}"
        assert box.run("wc", "-l", path=path) == (0, os.fsencode(path), b"")


class TestEnvironment:
    def test_what_wc_cli_starts_may_call_wc_again(self, box: Box) -> None:
        """The guard of an outer run must not stop `wc -l` in an editor."""
        script(box.bin / "wc-cli", "#!/bin/sh\nwc -l a\n")
        shim(box.root / "early", f'exec {box.bin}/wc "$@"')
        shim(box.root / "late", f'PATH={SYSTEM_PATH} exec wc "$@"')
        path = f"{box.root}/early:{box.bin}:{box.root}/late:{SYSTEM_PATH}"
        assert box.run("wc", "say", path=path) == box.system("-l", "a")

    def test_the_guard_does_not_reach_wc_cli(self, box: Box) -> None:
        script(box.bin / "wc-cli", '#!/bin/sh\necho "${_WC_TRIED-unset}"\n')
        assert box.run("wc", "say", env={"_WC_TRIED": "/x/wc:"}) == (0, b"unset\n", b"")

    def test_exported_variables_arrive_as_they_were(self, box: Box) -> None:
        names = ("dir", "line", "rest", "self", "target", "bin", "next", "IFS_")
        variables = {name: f"mine {name}\n" for name in names}
        report = f"#!/bin/sh\nprintf '%s' \"{''.join(f'${name}' for name in names)}\"\n"
        script(box.bin / "wc-cli", report)
        script(box.root / "wc", report)
        wanted = (0, "".join(variables.values()).encode(), b"")
        assert box.run("wc", "say", env=variables) == wanted
        path = f"{box.bin}:{box.root}"
        assert box.run("wc", "-l", path=path, env=variables) == wanted


# As pip and uv write it.
SCRIPTS = {
    "pip": """#!{python}
# -*- coding: utf-8 -*-
import re
from wc_cli.start import main
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])
    sys.exit(main())
""",
    "uv": """#!{python}
# -*- coding: utf-8 -*-
from wc_cli.start import main
if __name__ == "__main__":
    sys.exit(main())
""",
}
OTHERS = {
    "options": ("#!{python} -I\n", SCRIPTS["uv"].partition("\n")[2]),
    "another function": ("#!{python}\n", "from wc_cli.run.app import main\nmain()\n"),
    "more of it": ("#!{python}\n", "import os\nfrom wc_cli.start import main\n"),
    "of a shell": ("#!/bin/sh\n", "exec {python} $0\n"),
}


class TestInterpreter:
    """What starts as installers write it, the launcher starts without it."""

    def python(self, box: Box, name: str = "python3.11") -> Path:
        """An interpreter that says how it was started."""
        return script(box.root / name, "#!/bin/sh\nprintf '%s|' \"$@\"\n")

    @pytest.mark.parametrize("installer", SCRIPTS)
    def test_the_interpreter_of_the_script_is_started(
        self, box: Box, installer: str
    ) -> None:
        text = SCRIPTS[installer].format(python=self.python(box))
        path = script(box.bin / "wc-cli", text)
        code, out, err = box.run("wc", "say", "-", "a b")
        *options, program = out.decode().split("|")[:3]
        words = out.decode().split("|")[3:]
        assert (code, err, options) == (0, b"", ["-P", "-c"])
        assert program.endswith("from wc_cli.start import main; main()")
        assert words == [str(path), "say", "-", "a b", ""]

    @pytest.mark.parametrize("other", OTHERS)
    def test_any_other_script_is_started_itself(self, box: Box, other: str) -> None:
        text = "".join(OTHERS[other]).format(python=self.python(box))
        path = script(box.bin / "wc-cli", text)
        words = box.run("wc", "say", "x")
        assert words == box.run(path, "say", "x")
        assert b"start import" not in words[1]

    def test_a_lost_interpreter_is_reported_as_by_the_system(self, box: Box) -> None:
        text = SCRIPTS["uv"].format(python=box.root / "python3")
        path = script(box.bin / "wc-cli", text)
        code, _, err = box.run("wc", "say")
        assert code in {126, 127}
        assert os.fsencode(path) in err


class TestCommandLineMissing:
    def test_says_what_is_missing_and_what_to_do(self, box: Box) -> None:
        (box.bin / "wc-cli").unlink()
        code, out, err = box.run("wc", "say", "x")
        assert (code, out) == (127, b"")
        assert err.startswith(b"wc: wc-cli is missing beside " + os.fsencode(box.bin))
        assert b"uv tool install --reinstall" in err

    def test_counting_works_all_the_same(self, box: Box) -> None:
        (box.bin / "wc-cli").unlink()
        assert box.run("wc", "-l", "a") == box.system("-l", "a")


class TestCheckout:
    """From a checkout the launcher runs the checkout's own environment."""

    MAKE = """#!/bin/sh
echo "making" >&2
echo "to stdout"
root=${0%/*}/..
mkdir -p "$root/.venv/bin"
cp "$root/cli" "$root/.venv/bin/wc-cli"
cp "$root/cli" "$root/.venv/bin/python"
: >"$root/.venv/.complete"
"""
    MADE = b"making\nto stdout\n"

    @pytest.fixture
    def checkout(self, box: Box) -> Path:
        root = box.root / "check out"
        box.install(root / "bin", cli=None)
        script(root / "bin" / "bootstrap", self.MAKE)
        script(root / "cli", FAKE_CLI)
        for name in ("requirements.lock", "pyproject.toml"):
            (root / name).write_text("")
            os.utime(root / name, (1, 1))
        return root

    def say(self, box: Box, checkout: Path, **env: str) -> Outcome:
        return box.run(checkout / "bin" / "wc", "say", "x", env=env)

    def test_makes_the_environment_once_and_keeps_stdout_clean(
        self, box: Box, checkout: Path
    ) -> None:
        wanted = reached_cli("say", "x")
        assert self.say(box, checkout) == (*wanted[:2], self.MADE)
        assert self.say(box, checkout) == wanted

    @pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
    def test_asks_again_when_a_source_is_newer(
        self, box: Box, checkout: Path, name: str
    ) -> None:
        self.say(box, checkout)
        os.utime(checkout / ".venv" / ".complete", (100, 100))
        assert self.say(box, checkout) == reached_cli("say", "x")
        os.utime(checkout / name, (200, 200))
        assert self.say(box, checkout)[2] == self.MADE

    @pytest.mark.parametrize("name", ["bin/python", "bin/wc-cli", ".complete"])
    def test_asks_again_when_a_part_is_gone(
        self, box: Box, checkout: Path, name: str
    ) -> None:
        """A Python that was removed leaves a link to nowhere."""
        self.say(box, checkout)
        part = checkout / ".venv" / name
        part.unlink()
        part.symlink_to("nowhere")
        script(checkout / "bin" / "bootstrap", f"#!/bin/sh\nrm '{part}'\nexit 3\n")
        assert self.say(box, checkout) == (3, b"", b"")

    def test_gives_a_failed_bootstraps_status(self, box: Box, checkout: Path) -> None:
        script(checkout / "bin" / "bootstrap", "#!/bin/sh\necho no >&2\nexit 1\n")
        assert self.say(box, checkout) == (1, b"", b"no\n")

    def test_leaves_stdin_to_wc_cli(self, box: Box, checkout: Path) -> None:
        script(checkout / "bin" / "bootstrap", f"{self.MAKE}cat\n")
        script(checkout / "cli", "#!/bin/sh\ncat\n")
        assert self.say(box, checkout)[1] == b"one two\nthree\n"

    def test_lets_python_keep_what_it_compiled(self, box: Box, checkout: Path) -> None:
        self.say(box, checkout)
        show = '#!/bin/sh\necho "${PYTHONDONTWRITEBYTECODE-unset}"\n'
        script(checkout / ".venv" / "bin" / "wc-cli", show)
        assert self.say(box, checkout, PYTHONDONTWRITEBYTECODE="1")[1] == b"unset\n"

    def test_counting_needs_no_environment(self, box: Box, checkout: Path) -> None:
        assert box.run(checkout / "bin" / "wc", "-l", "a") == box.system("-l", "a")
        assert not (checkout / ".venv").exists()


def traced(box: Box, *command: str | Path) -> str:
    """The process calls of a command, or skip where they cannot be watched."""
    strace = shutil.which("strace")
    log = box.root / "trace"
    if strace is None:
        pytest.skip("strace is not installed: forks are NOT counted")
    words = [strace, "-f", "-o", log, "-e", "trace=process", *command]
    if box.run(*words)[0]:
        pytest.skip("strace may not trace here: forks are NOT counted")
    return log.read_text()


@pytest.mark.parametrize("arguments", [("-l", "a"), ("say", "x")], ids=repr)
def test_not_one_process_is_forked(box: Box, arguments: Sequence[str]) -> None:
    script(box.bin / "wc-cli", "#!/bin/sh\n:\n")
    calls = traced(box, box.bin / "wc", *arguments)
    assert not [c for c in calls.splitlines() if "fork(" in c or "clone" in c]


def at_terminal(box: Box, *arguments: str, typed: bytes = b"") -> str:
    """What a person sees who runs the launcher at a terminal."""
    ours, theirs = os.openpty()
    env = {"HOME": str(box.root), "LC_ALL": "C.UTF-8", "PATH": box.path}
    process = subprocess.Popen(
        [box.bin / "wc", *arguments],
        cwd=box.work,
        env=env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed)
    seen = b""
    with contextlib.suppress(OSError):  # the terminal ends with its last process
        while data := os.read(ours, 4096):
            seen += data
    process.wait(timeout=20)
    os.close(ours)
    return seen.decode().replace("\r\n", "\n")


class TestAtATerminal:
    """A person is told what the system's wc does with words meant for Watercooler."""

    def test_a_command_that_is_a_file(self, box: Box) -> None:
        seen = at_terminal(box, "list")
        first, *rest = seen.splitlines()
        assert first == "wc: counting the file ./list; for Watercooler: wc-cli list"
        assert rest == box.system("list")[1].decode().splitlines()

    @pytest.mark.parametrize(
        ("word", "line"),
        [
            (
                "finish",
                'Watercooler has no "finish"; did you mean wc done? All: wc help',
            ),
            ("find", 'Watercooler has no "find"; did you mean wc search? All: wc help'),
            *(
                (typed, f'Watercooler has no "{typed}"; did you mean wc {meant}?')
                for typed, meant in {
                    "replay": "reply",
                    "hadnoff": "handoff",
                    "donee": "done",
                    "lst": "list",
                    "stattus": "status",
                }.items()
            ),
            # Too far from `say`, and too short to be near anything.
            ("sat-on", 'Watercooler has no "sat-on"; its commands: wc help'),
            ("sa", 'Watercooler has no "sa"; its commands: wc help'),
            ("frobnicate", 'Watercooler has no "frobnicate"; its commands: wc help'),
        ],
    )
    def test_a_word_that_is_neither(self, box: Box, word: str, line: str) -> None:
        first, *rest = at_terminal(box, word, "x").splitlines()
        assert first.removesuffix(" All: wc help") == f"wc: {line}".removesuffix(
            " All: wc help"
        )
        assert any("No such file" in other for other in rest)

    def test_nothing(self, box: Box) -> None:
        seen = at_terminal(box, typed=b"one two\n\x04")
        assert "wc: counting what you type, until Ctrl-D;" in seen
        assert re.search(r"1 +2 +8", seen)

    @pytest.mark.parametrize("words", [("-l", "a"), ("a",), ("./nofile",), ("--", "x")])
    def test_anything_else_is_only_counted(
        self, box: Box, words: tuple[str, ...]
    ) -> None:
        _, out, err = box.system(*words)
        seen = at_terminal(box, *words).splitlines()
        assert sorted(seen) == sorted((out + err).decode().splitlines())


class TestWhereOurHelpIs:
    """The system's wc answers as always, and one line more names our help."""

    @pytest.mark.parametrize(
        "words",
        [("--help",), ("-h",), ("--version",), ("frobnicate",), ("finish", "it")],
    )
    def test_it_is_named_where_that_one_helps_or_fails(
        self, box: Box, words: tuple[str, ...]
    ) -> None:
        code, out, err = box.system(*words)
        assert box.run("wc", *words) == (code, out, b"Watercooler: wc help\n" + err)
        # A wrapper that calls us back adds nothing.
        again = box.run("wc", *words, env={"_WC_TRIED": "/none/wc:"})
        assert again == (code, out, err)

    @pytest.mark.parametrize("words", [("--help",), ("-h",), ("--version",)])
    def test_also_at_a_terminal(self, box: Box, words: tuple[str, ...]) -> None:
        _, out, err = box.system(*words)
        seen = at_terminal(box, *words).splitlines()
        expected = ["Watercooler: wc help", *(out + err).decode().splitlines()]
        assert sorted(seen) == sorted(expected)

    @pytest.mark.parametrize(
        "words",
        [("a",), ("-l", "nofile"), ("./nofile",), ("nofile.txt",), ("-l", "--help")],
    )
    def test_it_is_not_named_elsewhere(self, box: Box, words: tuple[str, ...]) -> None:
        assert box.run("wc", *words) == box.system(*words)


def test_every_command_that_is_suggested_exists() -> None:
    suggested = re.findall(r"_wc_meant='?([\w-]+)", LAUNCHER.read_text())
    assert {"say", "read", "done"} <= set(suggested) <= set(COMMANDS)


def test_no_word_with_a_suggestion_is_a_command() -> None:
    lines = re.findall(r"^    (.*)\) _wc_meant=", LAUNCHER.read_text(), re.MULTILINE)
    words = {word for line in lines for word in line.split(" | ")}
    assert words == {word for synonyms in SYNONYMS.values() for word in synonyms}
    assert not words & {*COMMANDS, *ALIASES, *INSTEAD}
    assert not {*INSTEAD} & {*COMMANDS, *ALIASES}


def test_every_variable_of_the_launcher_has_its_prefix() -> None:
    """See the head of the launcher: the caller's own must stay as they were."""
    text = LAUNCHER.read_text()
    names = set(re.findall(r"^ *(\w+)=", text, re.MULTILINE))
    assert "_wc_self" in names
    # IFS is set for one read alone; PATH for a program, as its comment says.
    stray = {name for name in names if not name.startswith(("_wc_", "_WC_"))}
    assert stray == {"IFS", "PATH"}
