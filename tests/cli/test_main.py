"""The way in: what reaches the terminal, whatever happens."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Machine
from wc_cli.run import options, table
from wc_core.base.version import __version__

if TYPE_CHECKING:
    from tests.conftest import Done, Repo


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository in which nothing is written."""
    return Machine(tmp_path_factory.mktemp("quiet")).repo()


@pytest.mark.parametrize("name", table.COMMANDS)
def test_an_argument_that_takes_several_words_says_so(name: str) -> None:
    declared = table.load(name)
    for param in declared.options.params() if declared is not None else ():
        # The words of these have an order, which their usage lines show.
        if name in {"link", "unlink", "guidance", "config"}:
            continue
        if not param.flags and param.kind in {options.WORDS, options.CHANGES}:
            assert param.metavar.endswith("...")


def test_the_reference_has_brackets_around_what_can_be_left_out() -> None:
    reference = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    assert "\n    wc list [WORD...] [OPTION...]\n" in reference
    assert "\n    wc tag TOPIC [TAG...] [OPTION...]\n" in reference
    assert "\n    wc read [TOPIC] [OPTION...]\n" in reference


def test_version(quiet: Repo) -> None:
    out = quiet.ok("version").out
    assert out == f"wc {__version__} (Python {sys.version.split()[0]})\n"


def test_the_skill_is_printed_as_it_is_shipped(quiet: Repo) -> None:
    out = quiet.ok("skill").out
    head = re.match(r"---\nname: watercooler\ndescription: (.+)\n", out)
    assert head is not None
    assert len(head[1]) <= 1024


# --- errors -------------------------------------------------------------------


def test_an_unknown_command(quiet: Repo) -> None:
    for words in (["nonsense"], ["SAY"], ["sayy", "--json"]):
        done = quiet.wc(*words)
        assert (done.code, done.out) == (2, "")
        assert "There is no command" in done.err
    assert done.error["hint"].startswith("Did you mean: say?")


def test_an_unknown_option_of_the_whole(quiet: Repo) -> None:
    assert "--nonsense" in quiet.fails(2, "--nonsense")


def test_a_mistake_is_named_in_plain_words(repo: Repo) -> None:
    for words, message in (
        (("read", "x", "--from", "abc"), "'abc' is not a whole number."),
        (("read", "x", "--limit", "abc"), "'abc' is not a whole number."),
        (("read", "x", "--limit", "-3"), "-3 is less than 0."),
        (("say", "x", "two", "words"), "Too many arguments: words"),
        (("say", "x", "-F", "none"), "Name a file, or '-' for standard input."),
        (("say", "x", "two", "words"), "wc say x 'two words'"),
        (("handoff", "x", "Codex", "two", "words"), "wc handoff x Codex 'two words'"),
        (("say", "x", "y", "-t", "title"), "Too many arguments: y"),
        (("say", "x", "y", "-m", "title"), "Too many arguments: y"),
        (("move", "x"), "Missing option '--branch'."),
        (("move", "x", "branch", "y"), "Too many arguments: y"),
        (("rename", "x"), "Missing argument 'NEW'."),
        (("config", "foo"), "wc config has no action 'foo'."),
    ):
        done = repo.wc(*words)
        assert done.code
        assert message in done.err


# --- options of every command -------------------------------------------------


def test_global_options_stand_before_the_command_or_after_it(repo: Repo) -> None:
    repo.ok("new", "auth", "-m", "x", "--to", "Codex")
    for words in (["--json", "list", "--mine"], ["list", "--mine", "--json"]):
        assert repo.ok("--as", "Codex", *words).json["threads"][0]["have_ball"]
    assert repo.ok("--as=Codex", "--color", "never", "--json", "list", "--mine").json
    assert "There is no command after --as." in repo.fails(2, "--as", "Codex")


@pytest.mark.parametrize("name", ["version", "board", "export", "demo", "help"])
def test_a_command_answers_in_json_or_says_that_it_cannot(
    repo: Repo, name: str
) -> None:
    done = repo.wc(name, "--json", *(["--all"] if name == "export" else []))
    if done.code:
        assert done.code == 2
        assert done.error["message"] == "This command has no answer in JSON."
    else:
        assert done.json


def test_a_person_names_another_store(repo: Repo) -> None:
    repo.ok("new", "ours", "-m", "x")
    other = repo.machine.repo("other")
    other.ok("new", "theirs", "-m", "x")
    store = other.ok("list", "--json").json["store"]
    listed = repo.ok("--store", store, "list", "--json").json
    assert [thread["topic"] for thread in listed["threads"]] == ["theirs"]
    receipt = repo.ok("say", "theirs", "-m", "y", "--store", store)
    assert "not in the threads of" in receipt.err
    assert "does not exist" in repo.fails(3, "list", "--store", f"{store}x")
    agent = {"AI_AGENT": "codex"}
    refused = repo.wc("say", "theirs", "-m", "z", "--store", store, env=agent)
    assert refused.code == 2
    assert "WATERCOOLER_DIR" in refused.err
    assert other.ok("list", "--json").json["threads"][0]["entry_count"] == 2


def test_colours_when_asked(repo: Repo) -> None:
    repo.ok("new", "auth", "-m", "x")
    assert "\x1b[" in repo.ok("read", "auth", "--color", "always").out
    assert "\x1b[" in repo.ok("--color=always", "help", "list").out
    assert "\x1b" not in repo.ok("read", "auth", "--color", "never").out
    assert "Use auto, always or never." in repo.fails(2, "list", "--color", "yes")


def test_errors_go_to_standard_error_and_results_to_standard_output(
    quiet: Repo,
) -> None:
    done = quiet.wc("read", "nothing")
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        'wc: There is no thread "nothing".\n    List them with: wc list\n'
    )
    done = quiet.wc("read", "nothing", "--json")
    assert done.out == ""
    assert json.loads(done.err) == {
        "error": {
            "code": "NOT_FOUND",
            "message": 'There is no thread "nothing".',
            "hint": "List them with: wc list",
        }
    }


def test_a_title_that_looks_like_an_option_does_not_ask_for_json(repo: Repo) -> None:
    done = repo.wc("ack", "nothing", "--", "--json")
    assert done.err.startswith("wc: ")


def test_an_error_that_quotes_others_is_cleaned(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x")
    log = repo.log("auth")
    fields = json.loads(log.read_text())
    fields["title"] = "evil\x1b[2J\ntitle"
    log.write_text(json.dumps(fields) + "\n")
    log.with_name("meta.json").unlink()
    said = repo.fails(4, "new", "auth", "--title", "y")
    assert "\x1b" not in said
    assert said.count("\n") == 2


# --- bugs ---------------------------------------------------------------------

BUG = """
import os, sys
from wc_cli.run import main, table
class Command:
    options = table.load("version").options
    def run(self, *_):
        raise RuntimeError("something broke")
table.load = lambda name: Command
Command.run = staticmethod(lambda *_: 1 / 0)
main.main()
"""


def test_a_bug_is_reported_short_with_its_traceback_in_a_file(repo: Repo) -> None:
    machine = repo.machine
    env = {"TMPDIR": str(machine.root)}
    words = [sys.executable, "-c", BUG, "version"]
    for more in ([], ["--json"]):
        done = machine.run([*words, *more], repo.path, env=env)
        if not more:
            assert done.code == 1
            assert "ZeroDivisionError" in done.err
            assert "Traceback" not in done.err
        path = re.search(r"/\S+wc-error-\w+\.log", done.err)
        if path is not None:
            with open(path[0], encoding="utf-8") as file:
                text = file.read()
            assert text.startswith("wc version\n")
            assert "ZeroDivisionError" in text
        assert done.out == ""


# --- streams ------------------------------------------------------------------


def in_shell(repo: Repo, script: str) -> Done:
    words = ["bash", "-c", script, "bash", *repo.machine.wc_words]
    return repo.machine.run(words, repo.path)


@pytest.mark.parametrize(
    ("streams", "code"),
    [
        *((">&-", 0), ("2>&-", 0), ("<&-", 0), (">&- 2>&- <&-", 0)),
        *((">/dev/full", 0), ("2>/dev/full", 0), ("| true", 0)),
        (">/dev/full 2>/dev/full", 0),
    ],
)
def test_what_is_saved_is_never_called_a_failure(
    repo: Repo, streams: str, code: int
) -> None:
    repo.ok("new", "auth", "--title", "x", "--as", "Codex")
    done = in_shell(repo, f'set -o pipefail; "$@" say auth --title y {streams}')
    assert done.code == code, done
    assert "Traceback" not in done.err
    assert "bug" not in done.err
    assert len(repo.entries("auth")) == 2


def test_a_receipt_that_could_not_be_printed_is_reported(repo: Repo) -> None:
    done = in_shell(repo, '"$@" say auth --title y >/dev/full')
    assert len(repo.entries("auth")) == 1
    assert done.err == (
        "note: saved auth #0, but: Standard output could not be "
        "written: No space left on device.\n"
    )


def test_an_answer_that_could_not_be_printed_is_a_failure(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x")
    for command in ("list", "read auth", "whoami --json"):
        done = in_shell(repo, f'"$@" {command} >/dev/full')
        assert done.code == 7
        assert "Standard output could not be written" in done.err


def test_input_that_is_closed_is_empty(repo: Repo) -> None:
    assert in_shell(repo, '"$@" say auth --title y --body - <&-').code == 0
    assert repo.entries("auth")[0]["body"] == ""


@pytest.mark.parametrize("coding", ["ascii", "latin-1", "utf-8:strict"])
def test_a_terminal_that_cannot_say_it(repo: Repo, coding: str) -> None:
    env = {"PYTHONIOENCODING": coding}
    words = ["say", "zoë", "--title", "→ 🎾", "--to", "Pat", "--as", "Codex"]
    for one in (words, ["list"], ["read", "zoë"], ["list", "--json"]):
        done = repo.ok(*one, env=env)
        assert "Traceback" not in done.err


def test_an_interrupt(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "x")
    machine = repo.machine
    pipe = repo.path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*machine.wc_words, "say", "auth", "--title", "y", "--body", "@pipe"],
        cwd=repo.path,
        env=machine.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with pipe.open("w"):  # opens when wc does, which then waits for the text
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.wait(30)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert len(repo.entries("auth")) == 1


def test_nothing_is_left_running(repo: Repo) -> None:
    """The helper has let go of our streams, so nobody waits for it."""
    start = time.monotonic()
    done = repo.ok(
        "say", "auth", "--title", "x", env={"WATERCOOLER_SYNC": "background"}
    )
    assert done.code == 0
    # `run` returns when the last writer of the pipes is gone.
    assert time.monotonic() - start < 5


def test_the_console_script_is_this_program(quiet: Repo) -> None:
    # What is tested as `python -c` is what `wc-cli` runs.
    import tomllib
    from pathlib import Path

    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    scripts = tomllib.loads(project.read_text())["project"]["scripts"]
    assert scripts["wc-cli"] == "wc_cli.start:main"
    assert os.access(quiet.machine.wc_words[0], os.X_OK)
