"""``wc inbox``: what needs someone in all repositories of a machine."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Machine, Repo
from wc_cli.run.context import Context
from wc_core.attention.inbox.items import read_item, waiting_threads
from wc_core.attention.inbox.stores import known_stores

CODEX = ("--as", "Codex")


@pytest.fixture
def app(machine: Machine) -> Repo:
    return machine.repo("home/src/app")


@pytest.fixture
def shop(machine: Machine) -> Repo:
    return machine.repo("home/src/shop")


def start(repo: Repo, topic: str, *words: str) -> None:
    repo.ok("new", topic, "--title", f"About {topic}", *words)


def facts(answer: Any) -> list[tuple[str, str, str]]:
    return [
        (item["kind"], item["repository"], item["topic"]) for item in answer["items"]
    ]


def test_the_three_kinds_of_all_repositories_the_oldest_first(
    app: Repo, shop: Repo
) -> None:
    start(app, "first", "--to", "Pat", *CODEX)
    start(shop, "second", "--to", "Pat", *CODEX)
    start(app, "third", *CODEX)
    app.ok("ask", "third", "--to", "Pat", "--title", "Which hash?", *CODEX)
    start(shop, "fourth", "--to", "Pat", "--status", "BLOCKED", *CODEX)
    start(app, "fifth", *CODEX)  # nothing of Pat's
    start(shop, "sixth", "--status", "CLOSED", *CODEX)
    answer = app.json("inbox")
    assert facts(answer) == [
        ("input_required", "app", "third"),
        ("input_required", "shop", "fourth"),
        ("my_move", "app", "first"),
        ("my_move", "shop", "second"),
    ]
    assert answer["total"] == 4
    question = answer["items"][0]
    assert question["title"] == "Which hash?"
    assert question["from"] == "Codex (Pat)"
    assert app.entries("third")[-1]["id"].endswith(question["question"])
    assert question["since"].endswith("Z")
    assert [(one["repository"], one["waiting"]) for one in answer["repositories"]] == [
        ("app", 2),
        ("shop", 2),
    ]


def test_an_agent_is_offered_what_is_for_any_of_its_kind(app: Repo, shop: Repo) -> None:
    start(app, "any", "--to", "Codex", "--force")
    start(shop, "mine", "--to", "Codex (Pat)", "--force")
    start(shop, "seated", "--to", "Codex@left (Pat)", "--force")
    answer = app.json("inbox", *CODEX)
    assert facts(answer) == [("my_move", "shop", "mine"), ("offered", "app", "any")]
    assert answer["items"][1]["command"] == "wc take any --as Codex"


def test_each_command_answers_from_where_it_was_printed(app: Repo, shop: Repo) -> None:
    start(shop, "ball", "--to", "Pat", *CODEX)
    start(shop, "stuck", "--to", "Pat", "--status", "BLOCKED", *CODEX)
    start(shop, "asked", *CODEX)
    for question in ("Which hash?", "Which salt?"):
        shop.ok("ask", "asked", "--to", "Pat", "--title", question, *CODEX)
    machine = app.machine
    # A thread with two questions has a command for one at a time.
    for total in (3, 1, 0):
        items = app.json("inbox")["items"]
        assert len(items) == total
        for item in items:
            wc = " ".join(map(shlex.quote, machine.wc_words))
            script = f'wc() {{ {wc} "$@"; }}; {item["command"]}'
            done = machine.run(["bash", "-c", script], app.path)
            assert done.code == 0, (item, done)
    assert shop.json("read", "stuck", "--peek")["status"] == "OPEN"
    assert "Nothing needs you in 1 repository." in app.ok("inbox").err


def test_a_thread_with_a_question_is_shown_once(app: Repo) -> None:
    start(app, "ball", "--to", "Pat", *CODEX)
    start(app, "other", "--to", "Pat", *CODEX)
    for question in ("Which hash?", "Which salt?"):
        app.ok("ask", "ball", "--to", "Pat", "--title", question, *CODEX)
    answer = app.json("inbox")
    assert facts(answer) == [
        ("input_required", "app", "ball"),
        ("my_move", "app", "other"),
    ]
    item = answer["items"][0]
    assert (item["title"], item["more_questions"]) == ("Which hash?", 1)
    assert item["command"] == f"wc answer ball {item['question']} -m '…'"
    line = "  app: ball · Which hash? · and 1 more question · Codex (Pat) asks · now"
    assert line in app.ok("inbox").out
    app.ok("answer", "ball", item["question"], "-m", "Argon2")
    app.ok("answer", "ball", "-m", "16 bytes")
    assert facts(app.json("inbox")) == [
        ("my_move", "app", "ball"),
        ("my_move", "app", "other"),
    ]


def test_a_question_that_was_just_answered_leaves_the_ball(app: Repo) -> None:
    start(app, "ball", "--to", "Pat", *CODEX)
    app.ok("ask", "ball", "--to", "Pat", "--title", "Which hash?", *CODEX)
    context = Context(app.machine.env, str(app.path))
    (waiting,) = waiting_threads(context.reader, context.viewer)
    assert waiting.kind == "input_required"
    app.ok("answer", "ball", "-m", "Argon2")
    item = read_item(context.reader, context.viewer, waiting)
    assert item is not None
    fields = item.to_json()
    assert (fields["kind"], fields["topic"]) == ("my_move", "ball")
    assert fields["since"] == app.entries("ball")[0]["timestamp"]


def test_without_any_store_it_says_how_to_start(repo: Repo) -> None:
    assert repo.ok("inbox").err == (
        "There is no repository with threads. Start one with: wc new TOPIC -m '…'\n"
    )


def test_another_store_in_the_environment_does_not_redirect_a_command(
    app: Repo, shop: Repo
) -> None:
    start(shop, "ball", "--to", "Pat", *CODEX)
    start(app, "here", "--to", "Pat", *CODEX)
    env = {"WATERCOOLER_DIR": str(app.store)}
    ball, own = app.json("inbox", env=env)["items"]
    assert ball["command"] == ("cd ~/src/shop && WATERCOOLER_DIR= wc say ball -m '…'")
    assert own["command"] == "wc say here -m '…'"


def test_the_text_has_the_command_below_each_thread(
    app: Repo, machine: Machine
) -> None:
    lib = machine.repo("home/src/my  lib")
    start(lib, "ball", "--to", "Pat", *CODEX)
    start(app, "stuck", "--to", "Pat", "--status", "BLOCKED", *CODEX)
    assert app.ok("inbox").out.splitlines() == [
        "INPUT REQUIRED",
        "  app: stuck · About stuck · Codex (Pat) passed it · BLOCKED · now",
        "    wc say stuck -m '…' --status OPEN",
        "MY MOVE",
        "  my lib: ball · About ball · Codex (Pat) passed it · now",
        "    cd ~/'src/my  lib' && wc say ball -m '…'",
    ]


def test_text_of_others_cannot_forge_a_line(app: Repo) -> None:
    start(app, "ball", "--to", "Pat", *CODEX)
    app.ok("say", "ball", "--title", "x", "--to", "Pat", *CODEX)
    log = app.log("ball")
    text = log.read_text().replace("About ball", "A\\u001b[2Jb\\nMY MOVE")
    log.write_text(text)
    out = app.ok("inbox").out
    assert "\033" not in out
    assert out.count("\nMY MOVE") + out.startswith("MY MOVE") == 1


def test_it_works_in_a_folder_without_a_store(machine: Machine, shop: Repo) -> None:
    start(shop, "ball", "--to", "Pat", *CODEX)
    for folder in (machine.home, machine.root):
        answer = Repo(machine, folder).json("inbox")
        assert facts(answer) == [("my_move", "shop", "ball")]
    assert not (machine.root / ".watercooler").exists()


def test_a_store_in_the_tree_is_there_while_you_are(
    machine: Machine, shop: Repo
) -> None:
    plain = machine.folder("notes")
    start(plain, "list", "--to", "Pat", *CODEX)
    start(shop, "ball", "--to", "Pat", *CODEX)
    assert facts(plain.json("inbox")) == [
        ("my_move", "notes", "list"),
        ("my_move", "shop", "ball"),
    ]
    assert facts(shop.json("inbox")) == [("my_move", "shop", "ball")]


def test_a_repository_is_left_out_once_or_always(app: Repo, shop: Repo) -> None:
    start(app, "here", "--to", "Pat", *CODEX)
    start(shop, "there", "--to", "Pat", *CODEX)
    for word in ("shop", "~/src/shop", str(shop.path), str(shop.store)):
        answer = app.json("inbox", "--not", word)
        assert facts(answer) == [("my_move", "app", "here")], word
    error = app.fails(3, "inbox", "--not", "sho")
    assert "The inbox has no repository 'sho'." in error
    assert "app, shop" in error
    app.ok("config", "--global", "set", "inbox.leave_out", "~/src/app", "gone")
    assert facts(shop.json("inbox")) == [("my_move", "shop", "there")]
    app.ok("config", "--global", "set", "inbox.leave_out", "app", "shop")
    assert shop.json("inbox")["items"] == []


def test_repositories_of_the_same_name_are_distinguished(machine: Machine) -> None:
    one, other = machine.repo("home/a/app"), machine.repo("home/b/app")
    start(one, "ball", "--to", "Pat", *CODEX)
    start(other, "ball", "--to", "Pat", *CODEX)
    names = [item["repository"] for item in one.json("inbox")["items"]]
    assert names == ["~/a/app", "~/b/app"]

    # Their common name leaves both out.
    assert one.json("inbox", "--not", "app")["items"] == []
    one.ok("config", "--global", "set", "inbox.leave_out", "app")
    assert other.json("inbox")["items"] == []


def test_the_aliases_of_each_store_say_who_is_meant(app: Repo, shop: Repo) -> None:
    start(app, "ball", "--to", "Patrick", "--force", *CODEX)
    start(shop, "ball", "--to", "Patrick", "--force", *CODEX)
    shop.ok("config", "set", "aliases.Patrick", "Pat")
    shop.ok("doctor", "--repair")
    assert facts(app.json("inbox")) == [("my_move", "shop", "ball")]


def test_the_user_of_each_repository_is_who_is_meant(app: Repo, shop: Repo) -> None:
    shop.git("config", "user.name", "Alex")
    start(app, "pats", "--to", "Pat", *CODEX)
    start(shop, "pats", "--to", "Pat", "--force", *CODEX)
    start(shop, "own", "--to", "Alex", *CODEX)
    answer = app.json("inbox")
    assert facts(answer) == [("my_move", "app", "pats"), ("my_move", "shop", "own")]
    assert [one["you"] for one in answer["repositories"]] == ["Pat", "Alex"]


def test_a_store_that_cannot_be_read_is_named(
    app: Repo, shop: Repo, machine: Machine
) -> None:
    gone = machine.repo("home/src/gone")
    for repo in (app, shop, gone):
        start(repo, "ball", "--to", "Pat", *CODEX)
    broken = shop.store
    shutil.rmtree(gone.path)
    (broken / "graph").rename(shop.path / "graph")
    (broken / "graph").symlink_to(shop.path / "graph")
    shutil.rmtree(broken / ".local")
    done = app.ok("inbox")
    assert "app: ball" in done.out
    assert "not read: gone " in done.err
    assert "its repository is gone" in done.err
    assert "not read: shop (~/src/shop): " in done.err
    answer = app.json("inbox")
    unreadable = {one["repository"]: one["problem"] for one in answer["unreadable"]}
    assert set(unreadable) == {"gone", "shop"}
    # What is known to be gone need not be said each time.
    app.ok("config", "--global", "set", "inbox.leave_out", "gone", "shop")
    assert "unreadable" not in app.json("inbox")


def test_a_copy_of_a_store_is_named_and_one_that_was_set_aside_is_not(
    app: Repo, shop: Repo
) -> None:
    start(app, "ball", "--to", "Pat", *CODEX)
    start(shop, "ball", "--to", "Pat", *CODEX)
    store = shop.store
    shutil.copytree(store, f"{store}.orphaned-2026-01-01")
    shutil.copytree(store, f"{store}-2")
    answer = app.json("inbox")
    assert answer["total"] == 2
    (copy,) = answer["unreadable"]
    assert "has another store" in copy["problem"]


def test_a_damaged_thread_hides_no_other(app: Repo) -> None:
    start(app, "bad", "--to", "Pat", *CODEX)
    start(app, "good", "--to", "Pat", *CODEX)
    log = app.log("bad")
    log.unlink()
    log.mkdir()
    assert facts(app.json("inbox")) == [("my_move", "app", "good")]


def test_without_derived_files_the_threads_are_read(app: Repo, shop: Repo) -> None:
    start(shop, "ball", "--to", "Pat", *CODEX)
    start(shop, "asked", *CODEX)
    shop.ok("ask", "asked", "--to", "Pat", "--title", "Why?", *CODEX)
    start(shop, "waits", "--to", "Pat", *CODEX)
    shop.ok("link", "waits", "waits-for", "ball")
    before = facts(app.json("inbox"))
    assert before == [("input_required", "shop", "asked"), ("my_move", "shop", "ball")]
    for name in ("status", "links", "line"):
        shutil.rmtree(shop.store / ".local" / name, ignore_errors=True)
    (shop.store / ".local/cache.db").unlink(missing_ok=True)
    assert facts(app.json("inbox")) == before


def test_a_limit_leaves_the_latest_out(app: Repo) -> None:
    for number in range(4):
        start(app, f"topic-{number}", "--to", "Pat", *CODEX)
    done = app.ok("inbox", "--limit", "3")
    assert "topic-2" in done.out
    assert "topic-3" not in done.out
    assert "1 more: wc inbox --limit 0" in done.err
    answer = app.json("inbox", "--limit", "3")
    assert (answer["total"], answer["truncated"]) == (4, True)
    assert len(app.json("inbox", "--limit", "0")["items"]) == 4


def test_only_threads_that_are_shown_are_read(app: Repo, shop: Repo) -> None:
    start(shop, "other", *CODEX)
    start(shop, "ball", "--to", "Pat", *CODEX)
    start(shop, "later", "--to", "Pat", *CODEX)
    for topic in ("other", "later"):
        shutil.rmtree(shop.log(topic).parent)
    assert facts(app.json("inbox", "--limit", "1")) == [("my_move", "shop", "ball")]
    assert app.json("inbox")["total"] == 1


def test_a_bare_repository_is_entered_by_a_worktree(
    machine: Machine, app: Repo, tmp_path: Path
) -> None:
    bare = tmp_path / "home/src/tool.git"
    machine.git("clone", "-q", "--bare", str(app.path), str(bare), cwd=tmp_path)
    machine.git("worktree", "add", "-q", str(tmp_path / "home/tool-main"), cwd=bare)
    tool = Repo(machine, tmp_path / "home/tool-main")
    start(tool, "ball", "--to", "Pat", *CODEX)
    (item,) = app.json("inbox")["items"]
    assert item["repository"] == "tool"
    assert item["command"] == "cd ~/tool-main && wc say ball -m '…'"


def test_watch_shows_it_again_when_something_changes(app: Repo, shop: Repo) -> None:
    start(shop, "ball", "--to", "Pat", *CODEX)
    words = [*app.machine.wc_words, "inbox", "--watch", "--json"]
    watching = subprocess.Popen(
        words, cwd=app.path, env=app.machine.env, stdout=subprocess.PIPE, text=True
    )
    try:
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["total"] == 1
        start(app, "new", "--to", "Pat", *CODEX)  # in a store that was not there
        assert json.loads(watching.stdout.readline())["total"] == 2
        shop.ok("say", "ball", "--title", "Done", "--to", "Codex")
        assert facts(json.loads(watching.stdout.readline())) == [
            ("my_move", "app", "new")
        ]
        shop.ok("set-status", "ball", "BLOCKED", *CODEX)  # nothing of Pat's
        app.ok("set-status", "new", "BLOCKED", *CODEX)
        assert facts(json.loads(watching.stdout.readline())) == [
            ("input_required", "app", "new")
        ]
    finally:
        watching.terminate()
        watching.communicate()


@given(
    st.lists(
        st.sampled_from(["app", "-", "0123456789ab", "12", "watercooler-", "a"]),
        max_size=6,
    ).map("".join)
)
def test_a_store_that_lost_its_repository_has_the_name_in_its_folder(name: str) -> None:
    match = re.fullmatch(r"watercooler-(.+)-[0-9a-f]{12}(?:-\d+)?", name)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, ".watercooler/worktrees", name or "x")
        (folder / "threads").mkdir(parents=True)
        [store] = known_stores(home, {"HOME": home})
    assert store.problem == "its folder belongs to no repository"
    assert store.name == (match[1] if match else name or "x")


def test_a_submodule_is_named_by_its_folder(app: Repo, shop: Repo) -> None:
    allow = ("-c", "protocol.file.allow=always")
    app.git(*allow, "submodule", "--quiet", "add", str(shop.path), "vendor/shop")
    start(Repo(app.machine, app.path / "vendor/shop"), "inside")
    (item,) = app.json("inbox")["items"]
    assert item["command"].startswith("cd ~/src/app/vendor/shop && ")
    assert item["path"].endswith("/src/app/vendor/shop")
