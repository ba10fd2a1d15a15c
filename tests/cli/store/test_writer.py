"""StoreWriter in this process, with a clock of ours; and many at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wc_cli.ledger.settle.settler import Settler
from wc_cli.ledger.store.upkeep import Upkeep
from wc_cli.ledger.store.writer import Author, IdSource, StoreWriter
from wc_core.base import names, ulid
from wc_core.base.errors import ConflictError, CorruptError, NotFoundError, StorageError
from wc_core.ledger.git.discovery import PLAIN, Place
from wc_core.ledger.threads import folding, model
from wc_core.ledger.threads.proposals import Draft
from wc_core.ledger.threads.reader import StoreReader
from wc_core.ledger.threads.settings import Settings
from wc_core.people.identity.resolve import Identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Repo

START_MS = 1_767_225_600_000


class Clock:
    """A clock that stands still, jumps and steps back as it is told."""

    def __init__(self) -> None:
        self.now_ms = START_MS
        self.dice = 0

    def source(self) -> IdSource:
        return IdSource(lambda: self.now_ms, self.random)

    def random(self) -> int:
        self.dice += 7919
        return self.dice


class Shop:
    """A store outside git, and whoever writes in it."""

    def __init__(self, root: str, **rules: str) -> None:
        self.place = Place(PLAIN, os.path.realpath(root), None, exists=False)
        self.rules = Settings(**rules)  # type: ignore[arg-type]
        self.clock = Clock()
        self.reader = StoreReader(root)

    def writer(self, who: str) -> StoreWriter:
        author = Author(Identity(names.parse(who), "--as"), f"branch/{who[:2]}")
        return StoreWriter(self.place, author, self.rules, {})

    def settle(self) -> None:
        settler = Settler(self.place.root, {})
        settler.run()
        assert settler.problems == {}

    def files(self) -> dict[str, bytes]:
        """Everything that is a projection."""
        found = {}
        for path in sorted(Path(self.place.root).rglob("*")):
            name = str(path.relative_to(self.place.root))
            rendered = name.startswith("threads/")
            if path.is_file() and (
                rendered or path.name in {"meta.json", "edges.jsonl"}
            ):
                found[name] = path.read_bytes()
        return found

    def forget(self) -> None:
        """Delete every projection, and mark every thread as unsettled."""
        for name in self.files():
            os.unlink(f"{self.place.root}/{name}")
        upkeep = Upkeep(self.reader, {}, self.rules)
        for topic in self.reader.topics():
            Path(upkeep.marker(topic)).touch()


WHO = ("Pat", "Codex (pat)", "Codex@fix (pat)", "Claude Code (pat)", "Zoë")
TOPICS = ("auth", "feature-x", "çéß")
TEXTS = st.sampled_from(
    [
        "",
        "x",
        "a\n---\nEntry: Pat 2026\n",
        "\u2028\x1b[1m\r\n",
        "<!-- wc {} -->",
        "\\---",
    ]
)


class Turn(NamedTuple):
    """One attempt to do something."""

    who: str
    draft: Draft
    later_ms: int


def _draft(action: str) -> st.SearchStrategy[Draft]:
    return st.builds(
        Draft,
        st.sampled_from(TOPICS),
        st.just(action),
        st.sampled_from(["Title", "— “quoted” —", "# x", "<!-- -->"]),
        body=TEXTS,
        role=st.sampled_from(["", *model.ROLES]),
        type=st.sampled_from(model.ENTRY_TYPES),
        to=st.sampled_from(["", "me", "anyone", *WHO]),
        status=st.sampled_from(
            [*model.STATUSES] if action == "set_status" else ["", *model.STATUSES]
        ),
        reason=st.sampled_from(["", "stuck"]),
        key=st.sampled_from(["", "", "k"]),
        force=st.just(True),
        reopen=st.booleans(),
        new=st.just(True),
        # Other commands check a new name first.
        new_topic=st.sampled_from(["", "renamed"])
        if action == "rename"
        else st.just(""),
    )


TURNS = st.lists(
    st.builds(
        Turn,
        st.sampled_from(WHO),
        st.one_of([_draft(one) for one in ("say", "say", *model.ACTIONS)]),
        st.sampled_from([0, 1, 1000, -5000, 3_600_000]),
    ),
    max_size=14,
)


def play(shop: Shop, turns: Sequence[Turn]) -> int:
    """Make the moves that the rules allow; how many there were."""
    played = 0
    for turn in turns:
        shop.clock.now_ms += turn.later_ms
        writer = shop.writer(turn.who)
        try:
            receipt = writer.write(turn.draft, shop.clock.source())
        except (ConflictError, NotFoundError):
            continue  # the rules said no, or there is no such thread yet
        _check_receipt(shop, receipt.entry_id, receipt.topic, receipt.ball)
        played += 1
        if turn.draft.body == "x":
            topic = shop.reader.find(receipt.topic)
            writer.mark_read(shop.reader.snapshot(topic).state)
    return played


def _check_receipt(shop: Shop, entry_id: str, topic: str, ball: str | None) -> None:
    topic = shop.reader.find(topic)  # it may have been renamed
    thread = shop.reader.thread(topic)
    ids = [one.id for one in thread.entries]
    # A retry under the same key gets the receipt of then, whatever came after it.
    until = thread.entries[: ids.index(entry_id) + 1]
    assert folding.fold(topic, until).ball == ball
    # What the writer carried on is what the whole log says.
    snapshot = shop.reader.snapshot(topic)
    assert snapshot.fresh
    assert snapshot.state == folding.fold(topic, thread.entries)
    assert ids == sorted(set(ids))


@settings(max_examples=40, deadline=None)
@given(turns=TURNS)
def test_projections_are_folds_of_the_log(turns: list[Turn]) -> None:
    with tempfile.TemporaryDirectory() as root:
        shop = Shop(root)
        play(shop, turns)
        shop.settle()
        were = shop.files()
        shop.forget()
        assert shop.files() == {}
        shop.settle()
        assert shop.files() == were


@settings(max_examples=15, deadline=None)
@given(before=TURNS, after=TURNS, keep=st.integers(0, 3))
def test_stale_projections_do_not_matter(
    before: list[Turn], after: list[Turn], keep: int
) -> None:
    with tempfile.TemporaryDirectory() as root:
        shop = Shop(root)
        play(shop, before)
        shop.settle()
        old = shop.files()
        play(shop, after)
        shop.settle()
        were = shop.files()
        # Some of them as they were before the last writes: a crash's work.
        for name, data in list(old.items())[keep::2]:
            if not name.startswith(".local/"):
                Path(root, name).write_bytes(data)
        for topic in shop.reader.topics():
            state = folding.fold(topic, shop.reader.thread(topic).entries)
            assert shop.reader.snapshot(topic).state == state
            Path(root, ".local/unsettled", topic).touch()
        shop.settle()
        assert shop.files() == were


# --- one at a time ------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(str(tmp_path / "store"))


def say(shop: Shop, topic: str = "auth", who: str = "Pat", **more: object) -> str:
    draft = Draft(topic, "say", "x", new=True, **more)  # type: ignore[arg-type]
    return shop.writer(who).write(draft, shop.clock.source()).entry_id


def log_of(shop: Shop, topic: str = "auth") -> Path:
    return Path(shop.reader.layout.log(topic))


def test_ids_increase_whatever_the_clock_does(shop: Shop) -> None:
    ids = []
    for step in (0, 0, -86_400_000, 5, -1, 10**9, -(10**9) // 20):
        shop.clock.now_ms += step
        ids.append(say(shop))
    assert ids == sorted(set(ids))


def test_an_entry_from_far_ahead_does_not_take_the_thread_with_it(shop: Shop) -> None:
    first = say(shop)
    shop.clock.now_ms += 10 * 24 * 3600 * 1000
    ahead = say(shop, who="Codex")
    shop.clock.now_ms = START_MS + 1000
    receipt = shop.writer("Zoë").write(Draft("auth", "ack", "x"), shop.clock.source())
    assert first < receipt.entry_id < ahead
    assert receipt.idx == 2
    thread = shop.reader.thread("auth")
    assert [one.id for one in thread.entries] == [first, ahead, receipt.entry_id]
    assert ulid.timestamp_ms(receipt.entry_id) == START_MS + 1000


def test_a_write_costs_one_line(shop: Shop) -> None:
    for _ in range(3):
        before = log_of(shop).read_bytes() if log_of(shop).exists() else b""
        say(shop, body="text")
        data = log_of(shop).read_bytes()
        assert data.startswith(before)
        assert data[len(before) :].count(b"\n") == 1


def test_keys_of_other_tools_are_carried_over(shop: Shop) -> None:
    say(shop)
    meta = Path(shop.reader.layout.meta("auth"))
    fields = json.loads(meta.read_text())
    fields["annotations"] = {"by": ["other", "tools"]}
    meta.write_text(json.dumps(fields))
    other = meta.with_name("annotations.jsonl")
    other.write_bytes(b"\x00not ours")
    line = json.loads(log_of(shop).read_text())
    line["mood"] = {"deep": [1, None]}
    log_of(shop).write_text(json.dumps(line) + "\n")
    say(shop)
    shop.settle()
    assert json.loads(meta.read_text())["annotations"] == {"by": ["other", "tools"]}
    assert other.read_bytes() == b"\x00not ours"
    assert json.loads(log_of(shop).read_text().splitlines()[0])["mood"] == line["mood"]
    page = Path(shop.reader.layout.page("auth")).read_text()
    assert '"mood"' in page


def test_a_newer_wc_s_thread_is_not_written(shop: Shop) -> None:
    say(shop)
    shop.settle()
    meta = Path(shop.reader.layout.meta("auth"))
    meta.write_text(meta.read_text().replace('"version":1', '"version":2'))
    before = shop.files()
    with pytest.raises(CorruptError, match="newer wc"):
        say(shop)
    assert shop.files() == before


def test_a_missing_log_is_not_restarted(shop: Shop) -> None:
    say(shop)
    shop.settle()
    log_of(shop).unlink()
    with pytest.raises(CorruptError, match="missing"):
        say(shop)
    assert not log_of(shop).exists()


def test_a_folder_where_the_log_belongs(shop: Shop) -> None:
    say(shop)
    log_of(shop).unlink()
    log_of(shop).mkdir()
    with pytest.raises(CorruptError, match=r"entries\.jsonl"):
        say(shop)


def test_a_file_where_the_store_s_folders_belong(shop: Shop) -> None:
    root = Path(shop.place.root)
    (root / "graph").mkdir(parents=True)
    (root / "graph/baseline").write_text("in the way")
    with pytest.raises(CorruptError, match="in the way"):
        say(shop)
    assert (root / "graph/baseline").read_text() == "in the way"


def test_projections_that_cannot_be_written_do_not_fail_a_write(shop: Shop) -> None:
    say(shop)
    meta = Path(shop.reader.layout.meta("auth"))
    meta.unlink()
    meta.mkdir()
    (meta / "x").touch()
    receipt = shop.writer("Pat").write(Draft("auth", "ack", "y"), shop.clock.source())
    assert "its projections are not up to date" in receipt.notes[0]
    assert len(shop.reader.thread("auth").entries) == 2


# --- the disk says no ---------------------------------------------------------

# What measures coverage would be cut short as well.
LIMITED = 'unset "${{!COV@}}"; ulimit -f {}; exec "$@"'


def limited(
    repo: Repo, kilobytes: int, *words: str, feed: bytes = b""
) -> tuple[int, str]:
    argv = ["bash", "-c", LIMITED.format(kilobytes), "bash", *repo.machine.wc_words]
    done = repo.machine.run([*argv, *words], repo.path, feed=feed)
    return done.code, done.err


def test_a_file_that_may_not_grow(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x", "--body", "a" * 3000)
    before = repo.log("auth").read_bytes()
    words = ["say", "auth", "--title", "y", "--body", "-"]
    code, said = limited(repo, 4, *words, feed=b"b" * 3000)
    assert code == 7, said
    assert "could not be written: File too large" in said
    assert "Nothing was written" in said
    assert repo.log("auth").read_bytes() == before
    repo.ok("say", "auth", "--title", "y")
    assert [one["title"] for one in repo.entries("auth")] == ["x", "y"]


def test_a_first_entry_that_does_not_fit(repo: Repo) -> None:
    repo.ok("init")
    words = ["say", "auth", "--title", "y", "--body", "-"]
    assert limited(repo, 4, *words, feed=b"b" * 9000)[0] == 7
    assert repo.json("list")["threads"] == []
    assert repo.wc("read", "auth").code == 3
    repo.ok("say", "auth", "--title", "y")


def test_a_disk_that_is_full(repo: Repo) -> None:
    """A file system of its own, where this machine lets us have one."""
    mount = repo.machine.root / "small"
    mount.mkdir()
    script = (
        f"mount -t tmpfs -o size=128k none {mount} && cd {mount} && "
        "WATERCOOLER_DIR=$PWD/store && export WATERCOOLER_DIR && "
        '"$@" say auth --title x && head -c 200000 /dev/zero | tr "\\0" a > filler; '
        'head -c 60000 /dev/zero | tr "\\0" b | '
        '"$@" say auth --title y --body - ; echo "code $?"; rm filler; '
        '"$@" read auth --json; "$@" ack auth && "$@" list --json'
    )
    argv = ["unshare", "-rm", "sh", "-c", script, "sh", *repo.machine.wc_words]
    if not shutil.which("unshare"):
        pytest.skip("NO unshare(1): a full disk cannot be tried here")
    done = repo.machine.run(argv, repo.path)
    if "mount" in done.err and "code" not in done.out:
        pytest.skip(f"NO MOUNTS: a full disk cannot be tried here ({done.err.strip()})")
    assert "code 7" in done.out
    assert "The disk is full: make room" in done.err
    lines = done.out.splitlines()
    read, listed = (json.loads(one) for one in lines if one.startswith("{"))
    assert [one["title"] for one in read["entries"]] == ["x"]
    assert listed["threads"][0]["entry_count"] == 2


def test_a_store_that_is_read_only(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    store = repo.store
    script = (
        f"mount --bind {store} {store} && mount -o remount,ro,bind {store} && "
        'cd "$1" && shift && "$@" say auth --title y; echo "code $?"; '
        '"$@" read auth --json; "$@" statusline; "$@" doctor'
    )
    words = ["unshare", "-rm", "sh", "-c", script, "sh", str(repo.path)]
    done = repo.machine.run([*words, *repo.machine.wc_words], repo.path)
    if "code" not in done.out or "mount:" in done.err:
        pytest.skip(f"NO MOUNTS: read-only cannot be tried here ({done.err.strip()})")
    assert "code 7" in done.out
    assert "outside the sandbox" in done.err
    assert "WATERCOOLER_DIR" not in done.err
    assert "file system that is read-only here" in done.out
    assert "sudo" not in done.out
    assert '"title":"x"' in done.out
    assert "note: not marked as read" in done.err


def test_permissions(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    log = repo.log("auth")
    log.chmod(0o400)
    if os.access(log, os.W_OK):
        pytest.skip("RUN AS ROOT: permissions bind nobody here")
    said = repo.fails(7, "say", "auth", "--title", "y")
    assert "wc doctor" in said
    assert "Permission denied" in said


# --- many at once -------------------------------------------------------------


def test_first_writes_at_once_make_one_store(repo: Repo) -> None:
    machine = repo.machine
    writers = [
        subprocess.Popen(
            [*machine.wc_words, "say", f"thread-{word}", "--title", "x"],
            cwd=repo.path,
            env=machine.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for word in ("alpha", "beta", "gamma", "delta")
    ]
    said = [one.communicate(timeout=60) for one in writers]
    assert [one.returncode for one in writers] == [0] * 4, said
    assert len(repo.json("list")["threads"]) == 4
    assert len(os.listdir(repo.path / ".git/worktrees")) == 1
    repo.settled("ack", "thread-beta")
    assert repo.git("rev-list", "--count", "watercooler/threads") == "2"


def test_an_error_of_the_disk_is_a_storage_error(shop: Shop, tmp_path: Path) -> None:
    say(shop)
    log_of(shop).unlink()
    log_of(shop).symlink_to(tmp_path / "outside")
    with pytest.raises((CorruptError, StorageError)):
        say(shop)
    assert not (tmp_path / "outside").exists()
