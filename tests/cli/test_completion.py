"""Completion through what the shells really run."""

from __future__ import annotations

import functools
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Machine
from tests.core.strategies import relaxed
from wc_cli.commands.reading import lists
from wc_cli.run import table
from wc_cli.run.completion import answers, scripts

if TYPE_CHECKING:
    from tests.conftest import Done, Repo

LAUNCHER = Path(__file__).resolve().parents[2] / "bin" / "wc"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository whose machine has `wc` and `wc-cli` on its PATH."""
    machine = Machine(tmp_path_factory.mktemp("shells"))
    programs = machine.root / "bin"
    programs.mkdir()
    shutil.copy(LAUNCHER, programs / "wc")
    words = shlex.join(machine.wc_words)
    (programs / "wc-cli").write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    for one in programs.iterdir():
        one.chmod(0o755)
    machine.env["PATH"] = f"{programs}:{machine.env['PATH']}"
    repo = machine.repo()
    repo.ok("say", "auth", "--title", "x", "--as", "Codex@fix")
    repo.ok("say", "authors", "--title", "x", "--as", "Claude", "--new")
    repo.ok("new", "it-works", "--title", "x")
    repo.log("auth").with_name("meta.json").unlink()
    return repo


@functools.cache
def script_for(repo: Repo, shell: str) -> str:
    """What a shell evaluates when it starts; printed once for all tests."""
    return repo.ok("completion", shell).out


def bash(repo: Repo, *words: str) -> list[str]:
    """What bash would offer for the last word."""
    quoted = " ".join(shlex.quote(one) for one in words)
    return _offered(
        repo,
        "bash",
        f"{script_for(repo, 'bash')}\nCOMP_WORDS=({quoted}); "
        f"COMP_CWORD={len(words) - 1}; _wc_completion {words[0]}; "
        "printf '%s\\n' \"${COMPREPLY[@]}\"",
    )


def _offered(repo: Repo, shell: str, script: str) -> list[str]:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    bare = {"bash": "--norc", "fish": "--no-config", "zsh": "-f"}[shell]
    done = repo.machine.run([shell, bare, "-c", script], repo.path, feed=b"x\n")
    assert (done.code, done.err) == (0, "")
    return done.out.split("\n")[:-1]


CASES = {
    "a command": (["wc", "sa"], ["say"]),
    "two commands": (["wc", "se"], ["set-status", "search"]),
    "the whole name": (["wc-cli", "sa"], ["say"]),
    "a topic": (["wc", "say", "au"], ["auth", "authors"]),
    "a topic by an alias": (["wc", "read", "it"], ["it-works"]),
    "a status": (["wc", "set-status", "auth", "IN"], ["IN_REVIEW"]),
    "after an alias": (["wc", "set_status", "auth", "C"], ["CLOSED"]),
    "a role": (["wc", "say", "auth", "--role", "p"], ["planner", "pm"]),
    "a type": (["wc", "ack", "auth", "--type", "P"], ["Plan", "PR"]),
    "an option": (["wc", "list", "--li"], ["--limit"]),
    "a shell": (["wc", "completion", "z"], ["zsh"]),
    "help": (["wc", "help", "hand"], ["handoff"]),
    "a group of the help": (["wc", "help", "pl"], ["planning"]),
    "a rare option": (["wc", "say", "auth", "--if"], ["--if-ball", "--if-last"]),
    "not what was given": (["wc", "say", "--title", "x", "--tit"], [""]),
    "what may be repeated": (["wc", "say", "--pr", "1", "--pr"], ["--pr"]),
    "a value after =": (["wc", "list", "--sort=to"], ["topic"]),
    "= as a word": (["wc", "list", "--sort", "=", "to"], ["topic"]),
    "nothing after =": (["wc", "completion", "="], ["bash", "zsh", "fish"]),
    "a value that is free": (["wc", "say", "--title", "a"], [""]),
    "after an option": (["wc", "say", "--title", "x", "au"], ["auth", "authors"]),
    "after a flag": (["wc", "say", "--json", "au"], ["auth", "authors"]),
    "a command after an option": (["wc", "--as", "Codex", "sa"], ["say"]),
    "what a global option left": (["wc", "--json", "say", "x", "--js"], [""]),
    "after two hyphens": (["wc", "read", "--", "au"], ["auth", "authors"]),
    "no second topic": (["wc", "read", "auth", "au"], [""]),
    "no short help": (["wc", "tag", "-h"], [""]),
    "help of all": (["wc", "--h"], ["--help"]),
    "a file of the system's wc": (["wc", "-l", "code"], [""]),
    "one like a command": (["wc", "-l", "li"], [""]),
    "two files": (["wc", "code.txt", ""], [""]),
    "nonsense": (["wc", "nonsense", ""], [""]),
    "nonsense options": (["wc", "say", "--nonsense", "--tit"], ["--title"]),
}


@pytest.mark.parametrize("case", CASES)
def test_in_bash(repo: Repo, case: str) -> None:
    words, offered = CASES[case]
    assert bash(repo, *words) == offered


def test_names_with_blanks_in_bash(repo: Repo) -> None:
    offered = bash(repo, "wc", "handoff", "auth", "--to", "C")
    assert "Claude\\ Code\\ \\(Pat\\)" in offered
    assert "Codex@fix\\ \\(Pat\\)" in offered
    assert bash(repo, "wc", "handoff", "auth", "--to", "a") == ["anyone"]
    assert bash(repo, "wc", "handoff", "auth", "--to", "Claude\\ D") == [
        "Claude\\ Desktop"
    ]


def test_participants_come_first_and_other_agents_after_a_letter(repo: Repo) -> None:
    here = ["Claude Code (Pat)", "Codex@fix (Pat)", "Pat"]
    line = "wc handoff auth --to "
    assert fish(repo, line).out.splitlines() == [*here, "anyone", "me"]
    offered = fish(repo, f"{line}C").out.splitlines()
    assert offered[:2] == here[:2]
    assert {"Cursor", "Claude Desktop"} <= {*offered[2:]}
    script = f"{script_for(repo, 'bash')}\ncomplete -p wc"
    assert "-o nosort" in "".join(_offered(repo, "bash", script))
    assert zsh(repo, "wc", "say", "au").startswith("-V ")
    assert repo.ok("completion", "fish").out.count("--keep-order") == 2


def at_a_prompt(repo: Repo, typed: str) -> str:
    """What stands at the prompt of a real bash after ``typed`` and a tab."""
    if not shutil.which("bash"):
        pytest.skip("bash is not installed")
    env = repo.machine.env | {"TERM": "dumb", "PS1": "", "INPUTRC": os.devnull}
    here, there = pty.openpty()
    with subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        cwd=repo.path,
        env=env,
        stdin=there,
        stdout=there,
        stderr=there,
        start_new_session=True,
    ) as shell:
        os.close(there)
        os.write(here, b'eval "$(wc completion bash)"; echo ready"."\n')
        _until(here, "ready.")
        # Instead of being run, the words are printed, each in brackets.
        os.write(here, f"{typed}\t\x01printf '[%s]' \x05; echo done\".\"\n".encode())
        said = _until(here, "done.")
        os.write(here, b"exit\n")
        shell.wait(30)
        os.close(here)
    return said.partition("[wc]")[2].partition("done.")[0]


def _until(terminal: int, word: str) -> str:
    said = ""
    end = time.monotonic() + 30
    while word not in said and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 4096).decode(errors="replace")
    assert word in said, said
    return said


@pytest.mark.parametrize("typed", ["Codex@f", "Codex@"])
def test_names_with_a_seat_at_a_prompt_of_bash(repo: Repo, typed: str) -> None:
    """Bash itself ends a word at each @."""
    completed = at_a_prompt(repo, f"wc take auth --if-ball {typed}")
    assert completed == "[take][auth][--if-ball][Codex@fix (Pat)]"


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("'Claude Code (", "Claude Code (Pat)"),
        ('"Claude Code (', "Claude Code (Pat)"),
        ("Claude\\ Code\\ \\(", "Claude Code (Pat)"),
        ("'Codex@", "Codex@fix (Pat)"),
        ("'Claude De", "Claude Desktop"),
    ],
)
def test_names_within_quotes_at_a_prompt_of_bash(
    repo: Repo, typed: str, word: str
) -> None:
    completed = at_a_prompt(repo, f"wc handoff auth --to {typed}")
    assert completed == f"[handoff][auth][--to][{word}]"


def zsh(repo: Repo, *words: str) -> str:
    """What zsh would offer: the arguments of `_describe` and its array, or nothing for
    `_files`."""
    quoted = " ".join(shlex.quote(one) for one in words)
    script = (
        "compdef() { : }; _files() { : }; "
        '_describe() { print -r -- "$@" = "${(@P)3}" }; '
        f"{script_for(repo, 'zsh')}\nwords=({quoted}); CURRENT={len(words)}; "
        "_wc_completion"
    )
    return " ".join(_offered(repo, "zsh", script))


def test_in_zsh(repo: Repo) -> None:
    assert zsh(repo, "wc", "say", "au") == "-V word offered = auth authors"
    assert zsh(repo, "wc", "-l", "code") == ""
    assert " Claude Code (Pat) " in zsh(repo, "wc", "handoff", "auth", "--to", "Cl")
    offered = zsh(repo, "wc-cli", "sa")
    assert offered == "-V word offered = say:Add an entry and pass the ball"


@pytest.mark.parametrize("folder", ["", "zfunc"])
def test_the_first_tab_of_zsh_completes(repo: Repo, folder: str) -> None:
    """Also if the script is in a folder of fpath, which zsh reads at the first tab."""
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    ready = "PS1=READY; unsetopt prompt_cr prompt_sp"
    begin = "autoload -Uz compinit; compinit -D -u"
    lines = [begin, 'eval "$(wc completion zsh)"', ready]
    if folder:
        functions = repo.machine.home / folder
        functions.mkdir()
        (functions / "_wc").write_text(script_for(repo, "zsh"))
        lines = [f"fpath=({functions} $fpath)", begin, ready]
    (repo.machine.home / ".zshrc").write_text("\n".join(lines))
    here, there = pty.openpty()
    env = repo.machine.env | {"TERM": "dumb", "ZDOTDIR": str(repo.machine.home)}
    with subprocess.Popen(
        ["zsh", "-i"],
        cwd=repo.path,
        env=env,
        stdin=there,
        stdout=there,
        stderr=there,
        start_new_session=True,
    ) as shell:
        os.close(there)
        _until(here, "READY")
        os.write(here, b"wc sa\t")
        try:
            _until(here, "say")
        finally:
            shell.kill()
            os.close(here)


def test_descriptions_fit_and_keep_their_apostrophes_in_zsh(repo: Repo) -> None:
    offered = zsh(repo, "wc", "guida")
    assert "guidance:Set this repository\u2019s guidance for an occasion" in offered
    names = "|".join(table.COMMANDS)
    pattern = rf"(?:^| )({names}):(.*?)(?= (?:{names}):|$)"
    descriptions = re.findall(pattern, zsh(repo, "wc", "").partition("= ")[2])
    assert len(descriptions) == len(table.COMMANDS)
    longest = max(len(name) + len(text) for name, text in descriptions)
    assert longest < 72


def test_zsh_takes_the_script_from_its_own_folder_too(repo: Repo) -> None:
    first = repo.ok("completion", "zsh").out.partition("\n")[0]
    assert first == "#compdef wc wc-cli wc-observe"


def fish(repo: Repo, line: str, action: str = "get") -> Done:
    """What the command in fish's script answers; fish need not be there."""
    env = {
        "_WC_CLI_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_FISH_ACTION": f"{action}-args",
        "_TYPER_COMPLETE_ARGS": line,
    }
    words = ["wc", "completion", "fish"]
    return repo.machine.run(words, repo.path, env=env)


def test_in_fish(repo: Repo) -> None:
    assert fish(repo, "wc say au").out == "auth\nauthors\n"
    assert fish(repo, "wc sa").out == "say\tAdd an entry and pass the ball\n"
    assert fish(repo, "wc say au", "is").code == 0
    assert fish(repo, "wc -l code", "is").code == 1
    script = repo.ok("completion", "fish").out
    for name in ("wc", "wc-cli"):
        assert f"complete --command {name} --no-files" in script
    assert script.count("wc completion fish") == 4
    if shutil.which("fish"):
        assert _offered(repo, "fish", f"{script}\ncomplete -C 'wc say au'")


def test_fish_is_silent_where_wc_is_the_word_count(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It also reads the file in shells that do not have our programs on PATH."""
    script = repo.ok("completion", "fish").out
    monkeypatch.setitem(repo.machine.env, "PATH", "/usr/bin:/bin")
    (repo.path / "report.txt").touch()
    offered = _offered(repo, "fish", f"{script}\ncomplete -C 'wc rep'")
    assert offered == ["report.txt"]


def test_every_command_is_offered(repo: Repo) -> None:
    offered = bash(repo, "wc", "")
    assert offered == list(table.COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_one_runs_is_the_default(repo: Repo, shell: str) -> None:
    env = {"SHELL": f"/usr/local/bin/{shell}"}
    assert repo.ok("completion", env=env).out == repo.ok("completion", shell).out


def test_other_shells(repo: Repo) -> None:
    said = repo.fails(2, "completion", "tcsh")
    assert "tcsh" in said
    assert "wc completion bash|zsh|fish" in said
    assert "unnamed" in repo.fails(2, "completion")


@relaxed
@given(st.lists(st.text(min_size=1), max_size=4), st.text())
def test_words_are_split_as_a_shell_quotes_them(whole: list[str], end: str) -> None:
    line = shlex.join(["wc", *whole])
    assert answers.split_words(line) == ["wc", *whole]
    assert answers.split_words(f"{line} {end}")[: len(whole) + 1] == ["wc", *whole]


@relaxed
@given(
    st.sampled_from([*table.COMMANDS, *table.ALIASES]),
    st.lists(st.sampled_from(["--", "=", "-", "--json", "--as", "--to=", "x", "+y"])),
    st.sampled_from(["", "-", "--", "--j", "--as=x", "=", "x"]),
)
def test_every_offered_option_is_one_of_the_command(
    name: str, before: list[str], incomplete: str
) -> None:
    declared = table.load(name)
    assert declared is not None
    known = {flag for param in declared.options.params() for flag in param.flags}
    line = answers._Line(declared.options, before)
    if line._pending is None and not line._only_arguments:
        offered = {one.word for one in line.candidates("-")}
        assert offered <= {*known, "--help", "-h"}
        assert "--help" in offered
    assert all(
        one.word.startswith(incomplete) or "=" in incomplete
        for one in line._flags(incomplete)
    )


def test_a_prompt_is_no_place_for_errors(machine: Machine) -> None:
    home = machine.home
    env = {
        "_WC_CLI_COMPLETE": "complete_bash",
        "COMP_WORDS": "wc\nread\n",
        "COMP_CWORD": "2",
    }
    for more in ({}, {"WATERCOOLER_DIR": "/dev/null"}, {"COMP_CWORD": "x"}):
        done = machine.run(machine.wc_words, home, env={**env, **more})
        assert (done.code, done.out.strip(), done.err) == (0, "", "")
    done = machine.run(machine.wc_words, home, env={"_WC_CLI_COMPLETE": "nonsense"})
    assert "Traceback" not in done.err


def test_nothing_is_written_by_asking(machine: Machine) -> None:
    env = {
        "_WC_CLI_COMPLETE": "complete_bash",
        "COMP_WORDS": "wc\nread\n",
        "COMP_CWORD": "2",
    }
    repo = machine.repo()
    machine.run(machine.wc_words, repo.path, env=env)
    assert not (machine.home / ".watercooler").exists()


def test_the_words_of_the_server_are_those_of_its_help(repo: Repo) -> None:
    shown = "".join(
        repo.machine.run(
            [sys.executable, "-m", "wc_observe", *words, "--help"], repo.path
        ).out
        for words in ((), ("web",))
    )
    flags = set(re.findall(r"--[a-z-]+", shown))
    offered = set(scripts._OBSERVE.split())
    assert offered == {*flags, "web"}, offered ^ flags


def test_the_orders_of_a_list_are_those_that_it_takes(repo: Repo) -> None:
    assert answers.LIST_ORDERS == lists.SORT_KEYS
    assert set(bash(repo, "wc", "list", "--sort", "")) == set(lists.SORT_KEYS)
    assert set(bash(repo, "wc", "search", "x", "--sort", "")) == {"best", "newest"}
