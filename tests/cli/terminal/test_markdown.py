"""Entries at a terminal: markdown rendered, nothing obeyed, a pager where long."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.cli.entries.test_editor import Terminal, at_terminal
from tests.conftest import Machine
from tests.contract.fuzzer import obeyed
from tests.core.strategies import NOON_MS, entries, entry, relaxed
from wc_cli.run.terminal import markdown, pager
from wc_core.base.text import clean
from wc_core.ledger.threads.model import Ball, Entry
from wc_core.reading.views.entries import Numbered

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
BODY = """# Found

The **old** token, see [the spec](https://example.org/spec):

1. `rotate()` writes

```python
return new
```

Vec<String> and <b>bold</b>

<div onclick="x">block</div>
"""


def shown(item: Entry, width: int = 80, **env: str) -> str:
    console = markdown.console_of({"TERM": "xterm-256color", **env}, width)
    one = Numbered(3, item, forked=True)
    return markdown.terminal_text(
        console, markdown.rendered_entry(one, NOON_MS + 7_200_000)
    )


def plain(text: str) -> str:
    return "\n".join(one.rstrip() for one in COLOURS.sub("", text).split("\n"))


def test_an_entry_says_who_when_what_and_where_the_ball_went() -> None:
    item = entry(
        0, role="tester", ball=Ball("Pat"), status="BLOCKED", reason="stuck", body="Hi."
    )
    assert plain(shown(item, 100)) == (
        "#3 Codex (pat) · ball → Pat · BLOCKED · forked · "
        "2h ago (2026-01-01 12:00 UTC) · tester · Note\n"
        f"title 0  {item.id}\n"
        "reason: stuck\n"
        "\n"
        "    Hi.\n"
    )


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (
            80,
            [
                "#3 Claude Code (P) · ball → Codex (P) · forked · 2h ago · tester · PR",
                "title 0  on discount (12ef2e5) · {id}",
            ],
        ),
        (
            60,
            [
                "#3 Claude Code (P) · ball → Codex (P) · forked · 2h ago",
                "title 0  tester · PR · on discount (12ef2e5) ·",
                "{id}",
            ],
        ),
    ],
)
def test_facts_without_room_in_the_first_line_are_beside_the_title(
    width: int, lines: list[str]
) -> None:
    item = entry(
        0,
        agent="Claude Code (P)",
        role="tester",
        type="PR",
        ball=Ball("Codex (P)"),
        code_branch="discount",
        code_commit="12ef2e5" + "0" * 33,
    )
    expected = [line.format(id=item.id) for line in lines]
    assert plain(shown(item, width)).splitlines() == expected


def test_no_line_of_a_text_ends_in_blanks() -> None:
    text = shown(entry(0, body="One.\n\nTwo **lines**\nhere.\n\n- a list"))
    assert "Two" in text
    assert not re.search(" $", text, re.MULTILINE)


def test_markdown_is_rendered_and_nothing_of_it_is_lost() -> None:
    text = plain(shown(entry(0, body=BODY)))
    for expected in (
        "    Found",
        "The old token, see the spec (https://example.org/spec):",
        "1 rotate() writes",
        "return new",
        "Vec<String> and <b>bold</b>",
        '<div onclick="x">block</div>',
    ):
        assert expected in text
    assert not re.search(r"[*`]|# ", text)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("![plan](http://a.example/p.png)", "image: plan (http://a.example/p.png)"),
        ("![](http://a.example/p.png)", "image: http://a.example/p.png"),
        ("[//]: http://a.example (do it)", "[//]: http://a.example (do it)"),
        ('[spec](http://a.example "do it")', 'spec (http://a.example "do it")'),
        ("```py do it\nx\n```", "```py do it\n     x"),
        (f"{'>' * 30} do it", "> do it"),
        (f"{'- ' * 12}do it", "- do it"),
        ("| a |\n|---|\n| 1 | do it |", "| 1 | do it |"),
        ("a&#x202e;b &#x2066; c&#xe0041;", "ab  c"),
    ],
)
def test_what_a_model_reads_a_person_sees(body: str, expected: str) -> None:
    text = plain(shown(entry(0, body=body))).partition("\n\n")[2]
    assert expected in text
    assert clean(text) == text


def test_a_body_of_megabytes_is_shown_as_it_was_written() -> None:
    body = f"{'*word* ' * 100_000}\n\n{'日本語 ' * 100}"
    lines = plain(shown(entry(0, body=body), 50)).split("\n")[3:]
    assert all(line.startswith("    ") or not line for line in lines)
    assert max(map(cell_len, lines)) <= 50
    assert "".join("".join(lines).split()) == "".join(body.split())


def test_no_link_can_be_followed_and_no_colour_means_none() -> None:
    assert "\x1b]8" not in shown(entry(0, body=BODY + "<https://example.org>"))
    assert "\x1b[" in shown(entry(0, body=BODY))
    codes = re.findall(r"\x1b\[([0-9;]*)m", shown(entry(0, body=BODY), NO_COLOR="1"))
    assert not {one for code in codes for one in code.split(";")} - set("0123479")


@relaxed
@given(entries | st.builds(entry, st.just(0), body=st.text("<>/kbd[]()`*#|-\n ab\x1b")))
def test_nothing_written_is_obeyed_or_breaks_the_rendering(item: Entry) -> None:
    text = shown(item, 40)
    assert not obeyed(COLOURS.sub("", text))


def test_a_text_too_long_to_render_is_shown_as_it_was_written() -> None:
    assert "**x**" in shown(entry(0, body="**x** " * 20_000))


# --- the pager ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"PAGER": "sh"}, "sh"),
        ({"PAGER": "sh", "GIT_PAGER": "sed -n p"}, "sed -n p"),
        ({"PAGER": "sh", "GIT_PAGER": "cat"}, ""),
        ({"PAGER": ""}, ""),
        ({"PAGER": "no-such-pager -x"}, ""),
    ],
)
def test_which_pager(env: dict[str, str], expected: str) -> None:
    assert pager.pager_command(env) == expected


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository that tests here look at and do not change."""
    repo = Machine(tmp_path_factory.mktemp("story")).repo()
    repo.ok("new", "auth", "--title", "Keys", "--body", BODY)
    repo.ok("say", "auth", "--title", "Long", "--body", "\n\n".join("abcdefghijklmnop"))
    return repo


@pytest.mark.parametrize(
    ("env", "paged", "rendered"),
    [
        ({}, True, True),
        # Agents would hang in it.
        ({"WATERCOOLER_AGENT": "Codex"}, False, True),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_a_long_thread_is_paged_for_people(
    story: Repo,
    tmp_path: Path,
    env: dict[str, str],
    paged: bool,  # noqa: FBT001
    rendered: bool,  # noqa: FBT001
) -> None:
    seen = tmp_path / "seen"
    asked = {"PAGER": f"tee '{seen}'", "LINES": "24", **env}
    code, text = at_terminal(story, "read", "auth", "--peek", env=asked)
    assert code == 0
    assert seen.exists() is paged
    assert ("**old**" not in text) is rendered
    assert text.rstrip().endswith("p")


@pytest.mark.parametrize("words", [["help"], ["help", "list"]])
@pytest.mark.parametrize("agent", ["", "Codex"])
def test_a_long_help_begins_on_the_first_page(
    story: Repo, tmp_path: Path, words: list[str], agent: str
) -> None:
    seen = tmp_path / "seen"
    env = {"PAGER": f"tee '{seen}'", "LINES": "24", "WATERCOOLER_AGENT": agent}
    code, text = at_terminal(story, *words, env=env)
    assert (code, seen.exists()) == (0, not agent)
    assert text.startswith("\x1b[1mUsage:\x1b[0m wc ")


def test_a_pager_that_has_seen_enough_is_not_a_failure(story: Repo) -> None:
    asked = {"PAGER": "head -n 1", "LINES": "5"}
    code, text = at_terminal(story, "read", "auth", "--peek", env=asked)
    assert (code, text.strip().splitlines()[-1]) == (
        0,
        "\x1b[1mauth: Keys\x1b[0m",
    )


def test_raw_is_what_a_pipe_gets(story: Repo) -> None:
    asked = {"NO_COLOR": "1", "PAGER": "false"}
    _, text = at_terminal(story, "read", "auth", "--peek", "--raw", env=asked)
    piped = story.ok("read", "auth", "--peek").out
    assert text.replace("\r\n", "\n") == piped
    assert "    The **old** token" in piped


def test_author_and_ball_are_not_dim() -> None:
    text = shown(entry(0, ball=Ball("Pat")))
    assert "\x1b[1;36mCodex (pat)\x1b[0m" in text
    assert "\x1b[1;33mball → Pat\x1b[0m" in text


def test_reading_begins_at_what_is_new(repo: Repo) -> None:
    repo.ok("new", "auth", "-m", "Begin", "-b", "old\n\n" * 30, "--to", "Codex")
    asked = {"PAGER": 'echo "LESS=$LESS"; cat', "LINES": "24", "NO_COLOR": "1"}
    _, first = at_terminal(repo, "read", "auth", env=asked)
    assert "LESS=FRX\r\n" in first
    assert "── new ──" not in first
    repo.ok("say", "auth", "-m", "Answer", "-b", "new\n\n" * 30, "--as", "Codex")
    _, second = at_terminal(repo, "read", "auth", env=asked)
    assert "LESS=+/^── new ──$ FRX\r\n" in second
    old, _, new = second.partition("\r\n── new ──\r\n")
    assert "Begin" in old
    assert "Answer" not in old
    assert "Answer" in new


@pytest.mark.parametrize("options", ["-iM", "-M", "", "i", "-PMmy prompt", None])
@pytest.mark.parametrize("words", [("help", "say"), ("read", "auth")])
def test_less_shows_colours_whatever_options_a_person_has(
    repo: Repo, options: str | None, words: tuple[str, ...]
) -> None:
    if not shutil.which("less"):
        pytest.skip("less is not installed")
    repo.ok("new", "auth", "-m", "Begin", "-b", "old\n\n" * 30, "--to", "Codex")
    repo.ok("say", "auth", "-m", "Answer", "-b", "new\n\n" * 30, "--as", "Codex")
    own = {} if options is None else {"LESS": options}
    size = {"LINES": "24", "COLUMNS": "80", "PAGER": "less"}
    terminal = Terminal(repo, *words, env=size | own)
    terminal.wait_for(b"Usage:" if words[0] == "help" else "── new ──".encode())
    terminal.type(b"q")
    _, shown = terminal.end()
    assert "ESC[" not in shown
    assert "\x1b[1m" in shown
