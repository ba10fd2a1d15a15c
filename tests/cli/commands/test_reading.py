"""The commands that read: exact text, exact keys, and what counts as NEW."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Machine

if TYPE_CHECKING:
    from tests.conftest import Repo

_ULID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_COMMIT = re.compile(r"\([0-9a-f]{7}\)")
_FOLDER = re.compile(r"(watercooler-app)-[0-9a-f]{12}")


def plain(text: str) -> str:
    """Output without what differs each time."""
    patterns = (
        *((_ULID, "ID"), (_TIME, "TIME"), (_COMMIT, "(COMMIT)")),
        (_FOLDER, r"\1-HASH"),
    )
    for pattern, word in patterns:
        text = pattern.sub(word, text)
    return text


def tell_story(repo: Repo) -> None:
    """Three threads: one waits for Pat, one for Codex, one is closed."""
    codex = ["--as", "Codex"]
    repo.ok("new", "auth", "--title", "Log in with keys", *codex)
    words = ["--body", "Tokens expire.\n\nSee the draft.", "--type", "Plan"]
    repo.ok("say", "auth", "--title", "A plan", *words, *codex, "--to", "Pat")
    repo.ok("say", "billing", "--title", "Round up?", "--to", "Codex")
    repo.ok("set-status", "billing", "IN_REVIEW", "--reason", "Numbers are in")
    repo.ok("say", "chores", "--title", "Tidy up")
    repo.ok("say", "chores", "--title", "Done", "--status", "CLOSED")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository that tests here look at and do not change."""
    repo = Machine(tmp_path_factory.mktemp("story")).repo()
    tell_story(repo)
    return repo


# --- exact text ---------------------------------------------------------------


def test_list(story: Repo) -> None:
    done = story.ok("list", "--all")
    assert done.out == (
        "   TOPIC    BALL   STATUS     ENTRIES     AGE  TITLE\n"
        "   chores   \N{EN DASH}      CLOSED     2           now  Tidy up\n"
        "   billing  Codex  IN_REVIEW  2           now  Round up?\n"
        ">  auth     Pat    OPEN       2 (+2 new)  now  Log in with keys\n"
    )
    assert done.err == ""
    opened = story.ok("list").out.splitlines()
    assert [line.split()[0] for line in opened] == ["TOPIC", "billing", ">"]


def test_read(story: Repo) -> None:
    done = story.ok("read", "auth", "--peek")
    assert plain(done.out) == (
        "auth: Log in with keys\n"
        "OPEN · ball: Pat · 2 entries\n"
        "\n"
        "#0 · Codex (Pat) · TIME · Note · ball → Codex (Pat) · OPEN"
        " · on main (COMMIT) · ID\n"
        "Log in with keys\n"
        "\n"
        "#1 · Codex (Pat) · TIME · Plan · ball → Pat · on main (COMMIT) · ID\n"
        "A plan\n"
        "\n"
        "    Tokens expire.\n"
        "\n"
        "    See the draft.\n"
    )


def test_read_shows_a_reason(story: Repo) -> None:
    assert plain(story.ok("read", "billing", "--from", "#1").out).endswith(
        "#1 · Pat · TIME · Note · IN_REVIEW · on main (COMMIT) · ID\n"
        "Status: IN_REVIEW\n"
        "reason: Numbers are in\n"
    )


def test_updates(story: Repo) -> None:
    assert plain(story.ok("updates").out) == (
        "TIME auth #0 Codex (Pat): Log in with keys → Codex (Pat)\n"
        "TIME auth #1 Codex (Pat): A plan → Pat\n"
        "TIME billing #0 Pat: Round up? → Codex\n"
        "TIME billing #1 Pat: Status: IN_REVIEW\n"
        "TIME chores #0 Pat: Tidy up → Pat\n"
        "TIME chores #1 Pat: Done → anyone\n"
    )


def test_search(story: Repo) -> None:
    done = story.ok("search", "EXPIRE", "plan")
    assert plain(done.out) == (
        "auth #1 A plan Codex (Pat) · TIME\n    Tokens «expire». See the draft.\n"
    )
    assert done.err == "1 found\n"


def test_reindex(story: Repo) -> None:
    path = story.ok("reindex").out.rstrip("\n")
    assert path == str(story.store / ".local/index.md")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    assert page == (
        "# Threads\n"
        "\n## My move (1)\n\n"
        "- [**auth**](../threads/auth.md) Log in with keys "
        "(OPEN, ball: Pat, 2 entries, 2 new)\n"
        "\n## Free to take (0)\n\nnone\n"
        "\n## In review (1)\n\n"
        "- [**billing**](../threads/billing.md) Round up? "
        "(IN_REVIEW, ball: Codex, 2 entries)\n"
        "\n## Waiting on others (0)\n\nnone\n"
    )
    answer = story.json("reindex", "--closed")
    assert list(answer) == ["store", "path"]
    with open(answer["path"], encoding="utf-8") as file:
        assert file.read().endswith(
            "\n## Closed (1)\n\n- [**chores**](../threads/chores.md) Tidy up "
            "(CLOSED, ball: \N{EN DASH}, 2 entries)\n"
        )


def test_nothing_to_show(repo: Repo) -> None:
    done = repo.ok("list")
    assert (done.out, done.err) == (
        "",
        "No threads here. Start one with: wc new TOPIC -m '…'\n",
    )
    assert repo.ok("list", "--mine").err == done.err
    assert repo.ok("updates").err == "Nothing since 24h.\n"
    assert repo.ok("search", "word").err == "0 found\n"
    assert repo.json("list")["threads"] == []
    # Looking makes no store.
    assert not (repo.machine.home / ".watercooler").exists()
    assert repo.git("branch", "--list", "watercooler/*") == ""


# --- filters and pages --------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "topics"),
    [
        (["--open"], ["billing", "auth"]),
        (["--mine"], ["auth"]),
        (["--ball", "me"], ["auth"]),
        (["--ball", "Codex"], ["billing"]),
        ([], ["billing", "auth"]),
        (["--all"], ["chores", "billing", "auth"]),
        (["--status", "closed"], ["chores"]),
        (["--ball", "anyone"], []),
        (["--ball", "anyone", "--all"], ["chores"]),
        (["KEYS", "log"], ["auth"]),
        (["codex"], ["billing"]),
        (["tidy"], []),
        (["tidy", "--all"], ["chores"]),
        (["+none"], []),
        (["--author", "Codex", "--all"], ["auth"]),
        (["--author", "me", "--all"], ["chores", "billing"]),
        (["--stale", "0s"], ["billing", "auth"]),
        (["--stale", "1h"], []),
        (["--since", "2000-01-01"], ["billing", "auth"]),
        (["--since", "yesterday", "--stale", "1h"], []),
        (["--since", "0s"], []),
        (["--sort", "topic", "--all"], ["auth", "billing", "chores"]),
        (["--sort", "age"], ["auth", "billing"]),
        (["--sort", "title", "--limit", "1"], ["auth"]),
        (["--sort", "recent", "--limit", "1"], ["billing"]),
        (["--status", "in review"], ["billing"]),
        (["--limit", "1"], ["billing"]),
        (["--mine", "--as", "Codex"], ["billing"]),
        (["--ball", "Cursor"], []),
    ],
)
def test_list_with(story: Repo, words: list[str], topics: list[str]) -> None:
    found = story.json("list", *words)["threads"]
    assert [one["topic"] for one in found] == topics


def test_a_walk_through_all_pages(story: Repo) -> None:
    found, cursor = [], ""
    for _ in range(3):
        more = ["--cursor", cursor] if cursor else []
        answer = story.json("list", "--all", "--limit", "1", *more)
        found += [one["topic"] for one in answer["threads"]]
        cursor = answer.get("cursor", "")
        assert answer.get("truncated", False) == bool(cursor)
    assert (found, cursor) == (["chores", "billing", "auth"], "")
    shown = story.ok("list", "--all", "--limit", "2").err
    assert re.fullmatch(r"more: wc list --all --limit 2 --cursor \S+\n", shown)
    shown = story.ok("list", "--sort", "topic", "--limit", "1").err
    assert shown == "1 more: wc list --sort topic --limit 0\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--sort", "x"], "One of: recent, age"),
        (["--stale", "soon"], "Write 90m"),
        (["--since", "soon"], "yesterday, monday, last week"),
        (["--all", "--open"], "exclude each other"),
        (["--sort", "topic", "--cursor", "x"], "Leave out --sort"),
    ],
)
def test_what_a_list_cannot_do(story: Repo, words: list[str], error: str) -> None:
    assert error in story.fails(2, "list", *words)


def test_a_foreign_cursor(story: Repo) -> None:
    assert "not a cursor" in story.fails(2, "list", "--cursor", "x")


def test_a_part_of_a_thread(story: Repo) -> None:
    answer = story.json("read", "auth", "--limit", "1", "--peek")
    assert (answer["next_entry_index"], answer["truncated"]) == (1, True)
    assert [one["idx"] for one in answer["entries"]] == [0]
    assert story.ok("read", "auth", "--limit", "1").err == (
        "1 more: wc read auth --from 1 --limit 1\n"
    )
    answer = story.json("read", "auth", "--from", "1", "--peek")
    assert "next_entry_index" not in answer
    assert [one["idx"] for one in answer["entries"]] == [1]


@pytest.mark.parametrize(
    ("start", "shown"),
    [("-1", [1]), ("-2", [0, 1]), ("-10", [0, 1]), ("-0", [0, 1]), ("2", [])],
)
def test_a_start_counted_from_the_end(
    story: Repo, start: str, shown: list[int]
) -> None:
    for words in (("--from", start), (f"--from={start}",)):
        answer = story.json("read", "auth", *words, "--peek")
        assert [one["idx"] for one in answer["entries"]] == shown
    cut = story.ok("read", "auth", "--from", "-2", "--limit", "1", "--peek")
    assert cut.err == "1 more: wc read auth --from 1 --limit 1 --peek\n"
    for wrong in ("--1", "-", "-x", "1.5", "- 1"):
        assert "--from" in story.fails(2, "read", "auth", "--from", wrong)


@pytest.mark.parametrize(
    ("words", "pages"),
    [
        (["list", "--open"], 3),
        (["list", "--status", "closed"], 1),
        (["list", "--mine", "--as", "Codex"], 2),
        (["list", "--ball", "me", "--seat", "it's"], 1),
        (["read", "auth", "--peek"], 4),
        (["read", "auth", "--new", "--peek", "--from", "1", "--as", "Cursor"], 3),
        (["updates", "--as", "Codex"], 9),
        (["search", "--status", "open", "pat"], 5),
        (["search", "--ball", "me", "--", "-a", "it's"], 2),
    ],
)
def test_what_continues_an_answer_can_be_pasted(
    machine: Machine, words: list[str], pages: int
) -> None:
    repo = machine.repo()
    tell_story(repo)
    repo.ok("new", "ideas", "--title", "For later", "--to", "Codex", "--as", "Codex")
    for _ in range(2):
        repo.ok("ack", "auth", "--title=-a: it's")
    whole = _lines(repo.ok(*words).out)
    command = [words[0], "--limit", "1", *words[1:]]
    shown: list[str] = []
    for page in range(1, pages + 1):
        done = repo.ok(*command)
        shown += _lines(done.out)
        assert ("more: wc " in done.err) == (page < pages), done.err
        command = shlex.split(done.err.partition("more: wc ")[2])
    assert list(dict.fromkeys(shown)) == whole


def _lines(shown: str) -> list[str]:
    return list(dict.fromkeys(" ".join(line.split()) for line in shown.splitlines()))


def test_search_in_pages_and_places(story: Repo) -> None:
    answer = story.json("search", "pat", "--limit", "2")
    assert answer["truncated"]
    rest = story.json("search", "pat", "--cursor", answer["cursor"])
    assert answer["total"] == len(answer["hits"]) + len(rest["hits"])
    ids = [one["id"] for one in (*answer["hits"], *rest["hits"])]
    assert ids == sorted(ids, reverse=True)
    assert story.json("search", "pat", "--status", "closed")["total"] == 2
    assert "nothing to search" in story.fails(2, "search", " ")
    assert "nothing to search" in story.fails(2, "search")
    assert story.json("search", "--branch", "main")["total"] == 6
    assert story.json("search", "--file", "draft")["total"] == 1
    assert story.json("search", "--pr", "7", "--commit", "abcd")["total"] == 0
    assert "not a commit" in story.fails(2, "search", "--commit", "elsewhere")


@pytest.mark.parametrize("since", ["1h", "2026-01-01", "2026-01-01T00:00:00Z"])
def test_updates_since(story: Repo, since: str) -> None:
    assert len(story.json("updates", "--since", since)["entries"]) == 6


def test_updates_since_an_entry_and_on(story: Repo) -> None:
    answer = story.json("updates", "--limit", "2")
    assert answer["truncated"]
    assert answer["next_since"] == answer["entries"][-1]["id"]
    rest = story.json("updates", "--since", answer["next_since"])
    assert len(rest["entries"]) == 4
    assert story.json("updates", "--since", "yesterday")["entries"]
    said = story.fails(2, "updates", "--since", "someday")
    assert "3h" in said
    assert "someday" in said


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "9" * 5000])
def test_numbers_that_are_none(story: Repo, number: str) -> None:
    assert "--limit" in story.fails(2, "list", "--limit", number)


def test_threads_that_are_not_there(story: Repo) -> None:
    assert "Did you mean: auth" in story.fails(3, "read", "aut")
    assert story.wc("read", "nothing", "--json").error["code"] == "NOT_FOUND"
    story.fails(3, "read", "../../etc/passwd")


@pytest.mark.parametrize(
    "words", [("--ball", "Kilo"), ("--status", "BLOCKED"), ("--branch", "b")]
)
def test_a_filter_that_no_thread_fits(story: Repo, words: tuple[str, ...]) -> None:
    assert story.ok("list", *words, "--all").err == "No thread matches.\n"
    hint = f" Include closed ones: wc list --all {' '.join(words)}"
    hint = "" if "--status" in words else hint
    assert story.ok("list", *words).err == f"No thread matches.{hint}\n"
    assert story.ok("list", *words, "--open").err == f"No thread matches.{hint}\n"


def test_a_foreign_cursor_of_a_search(story: Repo) -> None:
    assert "not a cursor" in story.fails(2, "search", "pat", "--cursor", "zz")


def test_where_no_store_is_none_is_made(repo: Repo) -> None:
    assert repo.ok("updates", "--seen").out == "seen: nothing\n"
    assert repo.json("updates", "--seen")["seen"] == []
    done = repo.ok("reindex")
    assert (done.out, done.err.partition(".")[0]) == ("", "No threads here")
    assert repo.json("reindex")["path"] is None
    assert not (repo.machine.home / ".watercooler").exists()
    assert repo.git("branch", "--list", "watercooler/*") == ""


def test_outside_of_a_repository(machine: Machine) -> None:
    folder = machine.folder("plain")
    for name in ("list", "board"):
        done = folder.ok(name)
        assert "There is no git repository here" in done.err
        assert "start a thread in this folder: wc new TOPIC" in done.err
    done = folder.ok("new", "login", "-m", "Log in")
    assert done.err == (
        "note: there is no git repository here; the threads are in "
        f"{folder.path}/.watercooler\n"
    )
    assert folder.ok("say", "login", "-m", "More").err == ""
    assert "login" in folder.ok("list").out


# --- what a terminal obeys ----------------------------------------------------

PWN = "\x1b]0;pwn\x07\x9b31m\u202e"


@pytest.fixture
def hostile(repo: Repo) -> Repo:
    """A thread in which every field of another's entries means harm."""
    repo.ok("new", "auth", "--title", "x")
    log = repo.log("auth")
    mine = json.loads(log.read_text())
    (log.parent / "meta.json").unlink()
    lines = []
    for number in range(3):
        fields = {
            name: f"{text}{PWN}" if isinstance(text, str) else text
            for name, text in mine.items()
        }
        name = f"{mine['entry_id'][:25]}{number}-{PWN}$(touch pwned)'$(touch pwned)"
        lines.append(json.dumps(fields | {"entry_id": name, "index": number}) + "\n")
    log.write_text("".join(lines))
    other = log.parent.with_name("more")
    other.mkdir()
    (other / "entries.jsonl").write_text("".join(lines))
    return repo


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["list", "--limit", "1"],
        ["read", "auth"],
        ["read", "auth", "--limit", "1"],
        ["updates", "--since", "2020-01-01"],
        ["updates", "--since", "2020-01-01", "--limit", "1"],
        ["updates", "--since", PWN],
        ["search", "x"],
        ["search", "x", "--limit", "1"],
        ["search", "x", "--limit", "1", PWN],
        ["search", "x", "--cursor", PWN],
        ["updates", "--seen"],
        ["reindex"],
    ],
)
def test_nothing_a_terminal_obeys_is_printed(hostile: Repo, words: list[str]) -> None:
    for asked in (words, [*words, "--json"]):
        done = hostile.wc(*asked)
        shown = done.out + done.err
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown), shown
    page = hostile.store / ".local/index.md"
    assert not page.exists() or "\x1b" not in page.read_text()


def test_updates_go_on_behind_any_id(hostile: Repo) -> None:
    shutil.rmtree(hostile.log("more").parent)
    shown, since = [], "2020-01-01"
    for _ in range(3):
        words = ["updates", "--since", since, "--limit", "1"]
        answer = hostile.json(*words)
        assert answer["entries"][0]["title"] == f"x{PWN}"
        said = hostile.ok(*words).err
        shown += [one["idx"] for one in answer["entries"]]
        since = answer.get("next_since", "")
        assert since == (shlex.split(said)[5] if said else "")
    assert (shown, since) == ([0, 1, 2], "")


def test_a_pasted_command_runs_nothing_else(hostile: Repo) -> None:
    for words in (["list"], ["search", "x"], ["updates", "--since", "2020-01-01"]):
        said = hostile.ok(*words, "--limit", "1", "--as", "'; touch pwned; '").err
        line = said.partition("more: ")[2]
        assert line
        hostile.machine.run(["sh", "-c", line.replace("wc ", ": ", 1)], hostile.path)
        assert not (hostile.path / "pwned").exists(), line


# --- NEW ----------------------------------------------------------------------


def new_for(repo: Repo, who: str) -> int:
    (row,) = repo.json("list", "--as", who)["threads"]
    count: int = row["new_for_you"]
    return count


def test_new_is_what_others_wrote_since_my_last_entry(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "a")
    repo.ok("say", "auth", "--title", "b")
    assert (new_for(repo, "Pat"), new_for(repo, "Codex")) == (0, 2)
    repo.ok("ack", "auth", "--as", "Codex")
    assert (new_for(repo, "Pat"), new_for(repo, "Codex")) == (1, 0)


def test_reading_marks_as_read(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "a")
    repo.ok("say", "auth", "--title", "b")
    codex = ["--as", "Codex"]
    repo.ok("read", "auth", "--peek", *codex)
    repo.ok("read", "auth", "--limit", "1", *codex)
    assert new_for(repo, "Codex") == 2
    shown = repo.json("read", "auth", "--new", *codex)["entries"]
    assert [one["title"] for one in shown] == ["a", "b"]
    assert (new_for(repo, "Codex"), new_for(repo, "Cursor")) == (0, 2)
    repo.ok("say", "auth", "--title", "c")
    shown = repo.json("read", "auth", "--new", *codex)["entries"]
    assert [one["title"] for one in shown] == ["c"]


def test_new_is_the_same_everywhere_for_two_spellings_of_me(repo: Repo) -> None:
    claude = ["--as", "Claude"]
    repo.ok("new", "auth", "--title", "a", *claude)
    repo.ok("ack", "auth")
    repo.ok("ack", "auth", *claude)
    log = repo.log("auth")
    first, later = log.read_text().split("\n", 1)
    assert '"agent":"Claude Code (Pat)"' in later
    later = later.replace("Claude Code (Pat)", "Claude (pat)")
    log.write_text(f"{first}\n{later}")
    repo.ok("ack", "auth")
    assert new_for(repo, "Claude") == 1
    shown = repo.json("read", "auth", "--new", "--peek", *claude)["entries"]
    assert [one["idx"] for one in shown] == [3]
    twin = repo.ok("statusline", env={"WATERCOOLER_AGENT": "Claude Code"}).out
    assert "1 new" in twin


def test_seen_marks_without_showing(repo: Repo) -> None:
    for topic in ("auth", "billing"):
        repo.ok("say", topic, "--title", "a")
    codex = ["--as", "Codex"]
    assert repo.ok("read", "auth", "--seen", *codex).out == "seen: auth\n"
    news = {one["topic"]: one["new_for_you"] for one in _threads(repo, codex)}
    assert news == {"auth": 0, "billing": 1}
    assert repo.ok("updates", "--seen", *codex).out == "seen: auth, billing\n"
    assert {one["new_for_you"] for one in _threads(repo, codex)} == {0}


def _threads(repo: Repo, words: list[str]) -> list[dict[str, object]]:
    threads: list[dict[str, object]] = repo.json("list", *words)["threads"]
    return threads


def test_cursors_are_never_committed(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "a")
    repo.ok("read", "auth", "--as", "Codex")
    repo.settled("ack", "auth")
    names = repo.git("ls-tree", "-r", "--name-only", "watercooler/threads")
    assert ".local" not in names


# --- damage -------------------------------------------------------------------


def test_damage_in_one_thread_hides_no_other(repo: Repo) -> None:
    for topic in ("auth", "billing", "chores"):
        repo.ok("say", topic, "--title", topic)
    with repo.log("auth").open("ab") as log:
        log.write(b'{"torn": ')
    with repo.log("auth").open("r+b") as log:
        first = log.readline()
    repo.log("auth").write_bytes(b"garbage\n\xff\xfe\n[]\n" + first + b'{"torn": ')
    os.remove(repo.log("billing"))
    os.mkdir(repo.log("billing"))
    done = repo.ok("list")
    assert "damaged: " in done.err
    assert "wc doctor" in done.err
    assert [one["topic"] for one in repo.json("list")["threads"]][-1:] == ["billing"]
    shown = repo.json("read", "auth")
    assert [one["title"] for one in shown["entries"]] == ["auth"]
    assert [one.partition(": ")[2] for one in shown["damage"]] == [
        *("not JSON", "not UTF-8", "JSON, but not an object"),
        "the last line was never finished",
    ]
    assert "entries.jsonl:1: not JSON" in repo.ok("read", "auth").out
    said = repo.fails(6, "read", "billing")
    assert "entries.jsonl" in said
    assert "wc doctor" in said
    assert repo.ok("search", "chores").out.startswith("chores #0")
    assert "billing" in repo.ok("search", "chores").err
    assert repo.ok("updates", "--seen").out == "seen: auth, chores\n"
    assert repo.ok("updates").out.count("\n") == 2


def test_a_store_that_cannot_be_written_is_read_all_the_same(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "a")
    cursors = repo.store / ".local/cursors"
    cursors.write_text("in the way")
    done = repo.ok("read", "auth")
    assert "auth: a" in done.out
    assert done.err.startswith("note: not marked as read: ")


# --- pipes --------------------------------------------------------------------


def test_a_reader_that_has_seen_enough(story: Repo) -> None:
    words = " ".join(f"'{one}'" for one in story.machine.wc_words)
    command = f"{{ {words} read auth; echo $? >&2; }} | head -c 5"
    done = story.machine.run(["sh", "-c", command], story.path)
    assert (done.out, done.err) == ("auth:", "0\n")


@pytest.mark.parametrize(
    ("path", "folder", "topics"),
    [
        ("src/auth.py", ".", ["both", "named"]),
        ("auth.py", "src", ["both", "moved", "named"]),
        ("./auth.py", "src", ["both", "moved", "named"]),
        ("../lib/auth.py", "src", ["moved"]),
        ("{top}/lib/auth.py", ".", ["moved"]),
        ("src", ".", ["both", "named", "similar"]),
        ("none.py", ".", []),
    ],
)
def test_threads_about_a_file(
    repo: Repo, path: str, folder: str, topics: list[str]
) -> None:
    (repo.path / "src").mkdir()
    repo.ok("new", "named", "--title", "T", "--body", "See\nsrc/auth.py: slow")
    repo.ok("new", "moved", "--title", "T", "--file", "lib/auth.py")
    repo.ok("new", "both", "--title", "src/auth.py", "--file", "src/auth.py")
    repo.ok("new", "similar", "--title", "src/auth.pyc and src-auth.py, srcs")
    path = path.format(top=repo.path)
    answer = repo.json("list", "--file", path, cwd=folder)
    assert sorted(row["topic"] for row in answer["threads"]) == topics
    done = repo.ok("list", "--file", path, "--limit", "1", cwd=folder)
    assert ("more: wc list" in done.err) == (len(topics) > 1)
    assert ("No thread matches." in done.err) == (not topics)
    found = repo.json("search", "--file", path, cwd=folder)
    assert sorted(hit["topic"] for hit in found["hits"]) == topics


def test_a_log_with_escaped_slashes_is_searched_for_files(repo: Repo) -> None:
    """Other tools may write JSON so."""
    repo.ok("new", "auth", "--title", "T", "--body", "x src/früh.py")
    log = repo.log("auth")
    text = log.read_text().replace("src/früh.py", "src\\/fr\\u00fch.py")
    log.write_text(text)
    rows = repo.json("list", "--file", "src/früh.py")["threads"]
    assert [row["topic"] for row in rows] == ["auth"]


def test_what_was_not_searched_for_a_file_is_named(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "src/a.py")
    broken = repo.log("broken")
    broken.mkdir(parents=True)
    done = repo.ok("list", "--file", "src/a.py")
    assert "not searched: broken" in done.err
    assert repo.json("list", "--file", "src/a.py")["unreadable"] == ["broken"]


@pytest.fixture
def branches(repo: Repo) -> Repo:
    """Threads of two branches, whose entries are written in both worktrees."""
    fix = repo.worktree("app-wt-ui", "fix/ui")
    repo.ok("new", "asked", "--title", "On main", "--to", "Codex@fix/ui", "--force")
    repo.ok("new", "fix-ui", "--title", "On main, named")
    repo.ok("new", "moved", "--title", "On main", "--branch", "fix/ui")
    fix.ok("ack", "moved", "--title", "On fix")
    fix.ok("new", "opened", "--title", "On fix", "--as", "Sam")
    fix.ok("set-status", "opened", "CLOSED", "--as", "Sam")
    repo.ok("new", "other", "--title", "On main")
    return repo


BRANCH_CASES = [
    ("fix/ui", ["asked", "fix-ui", "moved", "opened"]),
    (" fix/ui ", ["asked", "fix-ui", "moved", "opened"]),
    ("main", ["asked", "fix-ui", "other"]),
    ("future", []),
    ("../x", []),
]


@pytest.mark.parametrize(("branch", "topics"), BRANCH_CASES)
def test_the_threads_at_a_branch(
    branches: Repo, branch: str, topics: list[str]
) -> None:
    answer = branches.json("list", "--branch", branch, "--all")
    assert sorted(row["topic"] for row in answer["threads"]) == topics
    done = branches.ok("list", "--branch", branch, "--open", "--limit", "1")
    assert ("more: wc list" in done.err) == (len(topics) > 1)
    assert ("No thread matches." in done.err) == (not topics)


def test_what_was_written_on_a_branch(branches: Repo) -> None:
    def written(*words: str) -> list[tuple[str, str]]:
        answer = branches.json(*words)
        topic = answer.get("topic", "")
        return [
            (entry.get("topic", topic), entry["title"]) for entry in answer["entries"]
        ]

    branches.ok("updates", "--seen")
    branches.ok("ack", "moved", "--title", "New", "--as", "Sam")
    on_fix = [("moved", "On fix"), ("opened", "On fix"), ("opened", "Status: CLOSED")]
    assert written("updates", "--branch", "fix/ui") == on_fix
    assert written("updates", "--branch", "fix/ui", "--limit", "1") == on_fix[:1]
    done = branches.ok("updates", "--branch", "fix/ui", "--limit", "1")
    assert "2 more: wc updates --since" in done.err
    assert "--branch fix/ui" in done.err
    done = branches.ok("read", "moved", "--branch", "elsewhere")
    assert done.err == "No entry matches.\n"
    assert written("read", "moved", "--branch", "fix/ui") == on_fix[:1]
    # What was not shown is still new.
    assert written("read", "moved", "--new", "--peek") == [("moved", "New")]
    found = branches.json("search", "--branch", "fix/ui")["hits"]
    assert sorted((hit["topic"], hit["title"]) for hit in found) == on_fix


def test_a_list_has_the_columns_that_are_asked_for(story: Repo) -> None:
    shown = story.ok("list", "--columns", "Title, ball", "--mine").out
    assert shown == "   TITLE             BALL\n>  Log in with keys  Pat\n"
    problem = story.fails(2, "list", "--columns", "titel")
    assert "no column 'titel'" in problem
    assert "Columns: topic, ball, status" in problem


def test_a_question_in_your_own_words(repo: Repo) -> None:
    repo.ok("new", "retries", "--title", "Back off", "--body", "We retry five times.")
    done = repo.ok("search", "what", "about", "retries?")
    assert done.out.startswith("With some of the words:\nretries #0 Back off")
    done = repo.ok("search", "what", "of", "retrying", "uploads")
    assert done.out.startswith("With some of the words:\nretries #0")
    assert done.err == "1 found, with some of the words\n"
    assert repo.ok("search", "--all", "retrying", "uploads").out == ""
    assert repo.ok("search", "--phrase", "five", "times").out.startswith("retries #0")
    assert "exclude each other" in repo.fails(2, "search", "--all", "--any", "x")
