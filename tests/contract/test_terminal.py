"""Whatever other tools wrote into a store, no terminal and no status line
obeys it, and one line stays one line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import Machine, Repo
from tests.contract.fuzzer import obeyed
from tests.contract.inprocess import wc
from tests.observe.stores import Store
from wc_core.base.layout import Layout, topic_of
from wc_core.ledger.threads.model import Ball

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = Path(__file__).resolve().parents[2] / "bin/wc-statusline"
# Each would do something, or look like something, where it is printed as it is.
HOSTILE = {
    "csi": "\x1b[2J\x1b[1;1H\x1b[31mowned",
    "title": "\x1b]0;owned\x07t",
    "link": "\x1b]8;;http://example.org\x1b\\here\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJm\x07x",
    "dcs": "\x1bPq#0\x1b\\x\x1b_x\x1b\\y\x1b^z\x1b\\",
    "c1": "\x9b31mred\x9d0;t\x9c\x90q\x9c\x85next",
    "unfinished": "x\x1b]0;" + "y" * 300,
    "bidi": "\u202egnp.exe\u202c \u2066a\u2069 \u200f",
    "lines": "a\nb\rc\r\nd\u2028e\u2029f\x0bg\x0ch\x1ci",
    "nul": "a\0b\x7fc\x08\x08\x08d",
    "flood": "Z" + "\u0300\u0488\u20dd" * 200,
    "shell": "x; touch owned; $(touch owned) `touch owned` a\\",
    "tags": "a\U000e0041\U000e0042b\ufeff",
}
LINES = re.compile("\r|\v|\f|\x85|[\u2028\u2029\x1c-\x1e]")


class Scene:
    """A store with a thread for each of them, everywhere in its entries, and
    under a name that holds it too; the branch of the code has one as well."""

    def __init__(self, root: Path) -> None:
        self.machine = Machine(root)
        self.repo = self.machine.repo()
        self.branch = "feat/\u202eevil-\u2066x"
        self.repo.git("checkout", "-q", "-b", self.branch)
        self.root = self.repo.path / ".watercooler"
        store = Store(self.root)
        self.topics = []
        for name, text in HOSTILE.items():
            topic = topic_of(f"{name} {text}"[:40].replace("\0", "0").replace("/", "-"))
            self.topics.append(topic)
            said: dict[str, Any] = dict.fromkeys(
                ("title", "agent", "role", "type", "reason", "at", "summary"), text
            )
            store.thread(
                topic,
                store.entry(topic, text, code_branch=self.branch, **said),
                store.entry(topic, text, ball=Ball(text), status=text, **said),
                # Shown with the ball, in the line of this branch.
                store.give(topic, f"Codex {text}", code_branch=self.branch),
                meta=name < "d",
            )
        self.env = self.machine.env | {"USER": "pat"}

    def wc(self, *words: str, **env: str) -> Any:
        return wc(words, self.repo.path, self.env | env)

    def outputs(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        for words in (
            *(("list",), ("list", "--json"), ("list", "--ball", HOSTILE["csi"])),
            *(("search", "owned"), ("search", "e", "--json"), ("search", "a", "x")),
            *(("updates", "--since", "2025-12-01"), ("updates", "--json")),
            *(("reindex",), ("whoami", "--explain"), ("whoami", "--json")),
            *(("doctor",), ("doctor", "--json"), ("doctor", "--repair", "--dry-run")),
            *(("statusline",), ("statusline", "--ascii"), ("updates", "--seen")),
            *(("board", "--closed", "--limit", "0"), ("board", "--json")),
        ):
            yield words, self.wc(*words)
        for topic in self.topics:
            for words in (("read", topic, "--peek"), ("read", topic, "--json")):
                yield words, self.wc(*words)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(tmp_path_factory.mktemp("hostile"))


def test_no_reading_command_prints_what_a_terminal_obeys(scene: Scene) -> None:
    for words, done in scene.outputs():
        assert done.code in {0, 9}, (words, done)
        assert done.out or words[0] == "updates" or "--ball" in words, words
        assert not obeyed(done.out + done.err), words
        if "--json" in words:
            assert done.out.count("\n") == 1
            json.loads(done.out)


def test_one_line_stays_one_line(scene: Scene) -> None:
    many = len(HOSTILE)
    assert len(scene.wc("list").out.splitlines()) == many + 1
    updates = scene.wc("updates", "--since", "2025-12-01").out.splitlines()
    assert len(updates) == 3 * many
    entries = [
        line
        for line in scene.wc("read", scene.topics[0], "--peek").out.split("\n")
        if line.startswith("#")
    ]
    assert len(entries) == 3
    page = Path(Layout(str(scene.root)).index_page)
    assert scene.wc("reindex").code == 0
    text = page.read_text()
    assert not obeyed(text)
    assert not LINES.search(text)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("command", ["read ", "handoff x --to "])
def test_no_completion_puts_it_on_the_command_line(
    scene: Scene, shell: str, command: str
) -> None:
    words = command.split(" ")
    asked = {
        "_WC_CLI_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(["wc", *words]),
        "COMP_CWORD": str(len(words)),
        "_TYPER_COMPLETE_ARGS": f"wc {command}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = scene.repo.wc("completion", shell, env=asked)
    assert "csi" in done.out or "Codex" in done.out
    assert not obeyed(done.out + done.err)
    # What zsh completes is evaluated, and a backslash undoes Typer's quotes.
    assert "touch owned" not in done.out


@pytest.mark.parametrize("name", HOSTILE)
def test_no_error_repeats_it(scene: Scene, name: str) -> None:
    text, topic = HOSTILE[name].replace("\0", ""), scene.topics[0]
    for words in (
        *(
            ("read", text),
            ("say", text, "--title", text),
            ("new", text, "--title", "T"),
        ),
        *(("handoff", topic, "--to", text), ("take", topic, "--as", text), (text,)),
        *(("ack", topic, "--if-ball", text), ("ack", topic, "--if-last", text)),
        *(
            ("set-status", topic, text),
            ("list", "--status", text),
            ("list", f"--{text}"),
        ),
        *(
            ("updates", "--since", text),
            ("say", topic, "--title", "T", "--body", f"@{text}"),
        ),
        *(("list", "--cursor", text), ("list", "--limit", text), ("help", text)),
    ):
        for more in ((), ("--json",)):
            done = scene.wc(*words, *more)
            assert not obeyed(done.out + done.err), words
    for variable in ("WATERCOOLER_AGENT", "WATERCOOLER_SEAT", "WATERCOOLER_USER"):
        done = scene.wc("whoami", **{variable: text})
        assert not obeyed(done.out + done.err), variable


def test_the_status_line_is_one_clean_line(scene: Scene) -> None:
    """The files are those that wc itself makes of the threads."""
    assert scene.wc("init").code == 0
    for topic in scene.topics:
        scene.wc("read", topic, "--seen", WATERCOOLER_AGENT="Codex")
        for agent in ("Pat", "Codex", HOSTILE["bidi"], HOSTILE["csi"]):
            done = scene.machine.run(
                [str(SCRIPT)], scene.repo.path, env={"WATERCOOLER_AGENT": agent}
            )
            assert done.code == 0
            assert not obeyed(done.out), done
            assert len(done.out.splitlines()) == 1
        break


def test_no_commit_message_has_any_of_it(repo: Repo) -> None:
    repo.settled("new", "plain", "--title", "T")
    store = Store(repo.store)
    for number, text in enumerate(HOSTILE.values()):
        entry = store.entry(
            f"t{number}", text, title=text, agent=text, code_branch=text, reason=text
        )  # fmt: skip
        store.thread(f"t{number}", entry, meta=False)
        (repo.store / f".local/unsettled/t{number}").touch()
        # A commit of one entry says its title, one of several does not.
        if number % 3 == 0 or number == len(HOSTILE) - 1:
            settle = [sys.executable, "-m", "wc_cli.run.background", str(repo.store)]
            assert repo.machine.run(settle, repo.path).code == 0
    raw = subprocess.run(
        ["git", "log", "--format=%B%an%ae", "watercooler/threads"],
        cwd=repo.path,
        env=repo.machine.env,
        check=True,
        capture_output=True,
    ).stdout.decode()
    assert raw.count("Watercooler-Entry-ID: ") == 1 + len(HOSTILE)
    assert "owned (t0)" in raw
    assert not obeyed(raw)
    assert not LINES.search(raw)
