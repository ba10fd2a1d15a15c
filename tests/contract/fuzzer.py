"""Random and mutated bytes for everything that reads bytes of others.

Run as ``python -m tests.contract.fuzzer [--cases N] [--seed S] [--first N]
[TARGET...]``. Each case follows from the seed, its target and its number
alone; one that fails is named by the command that runs it again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tests.contract import mutants
from tests.contract.fuzzed_prompt import Prompt
from tests.contract.fuzzed_words import Words
from wc_core.base import names, times, ulid
from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.text import clean, one_line
from wc_core.ledger.configuration import keys
from wc_core.ledger.git import config, discovery, repository
from wc_core.ledger.threads import codec, entryfields, folding, projections, settings
from wc_core.ledger.threads.jsontext import loads
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.pages import page as markdown
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

# Nothing here takes a second; what takes this long does not end.
HANGS = 60


class FuzzError(AssertionError):
    """A case that failed, and how to run it again."""


class HangError(BaseException):
    """A case that does not end. No handler may take it for a bad input."""


def _entry_of(line: bytes) -> Entry | None:
    found = codec.read_line("t", line)
    return found if isinstance(found, Entry) else None


def _same(one: object, other: object) -> bool:
    """Equal, a number that is none to itself included."""
    return one == other or repr(one) == repr(other)


def fuzz_codec(random: Random, _: Path) -> None:
    """Every good line survives whatever happens to the others."""
    original = mutants.log(random)
    data = mutants.mutated(random, original)
    log = codec.read_log("t", data)
    assert log.size == len(data)
    assert log.complete == data.rfind(b"\n") + 1
    lines = data.split(b"\n")
    versions: dict[str, set[bytes]] = {}
    for line in lines:
        one = _entry_of(line)
        if one is not None:
            versions.setdefault(one.id, set()).add(line)
    read = {one.id: one for one in log.entries}
    assert read.keys() == versions.keys()
    for line in set(original.split(b"\n")) & set(lines):
        one = _entry_of(line)
        if one is not None and versions[one.id] == {line}:
            assert _same(read[one.id], one)
    _sorted_right(data, log)
    _written_again(log.entries)


def helpful(error: WcError) -> None:
    """A refusal says what to do."""
    assert error.message
    assert error.hint


def _id_of(one: Entry) -> str:
    return one.id


def _ended(data: bytes) -> list[bytes]:
    """The lines of a log, an unfinished last one included."""
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def _sorted_right(data: bytes, log: codec.Log) -> None:
    """No byte is lost where good and bad lines part."""
    good, bad = codec.partition_lines("t", data)
    assert sorted(_ended(good) + _ended(bad)) == sorted(_ended(data))
    again = codec.read_log("t", good)
    # An id that is no ULID has its place by the line that came first.
    moved = any(one.kind == "differs" for one in log.damage)
    kept = sorted(again.entries, key=_id_of) if moved else again.entries
    wanted = sorted(log.entries, key=_id_of) if moved else log.entries
    assert _same(kept, wanted)
    assert not any(one.lost for one in again.damage)
    assert codec.partition_lines("t", good) == (good, b"")
    by_id = codec.lines_by_id("t", data)
    assert by_id.keys() == {one.id for one in log.entries}
    assert all(good.startswith(line) or b"\n" + line in good for line in by_id.values())


def _written_again(entries: Sequence[Entry]) -> None:
    """What was read can be folded, shown as a page, and read from there."""
    state = folding.fold("t", entries)
    meta = projections.read_meta("t", projections.render_meta(state, 7, {}))
    assert isinstance(meta, projections.Meta)
    assert meta.state is not None
    differing = {
        k: (v, getattr(meta.state, k))
        for k, v in state._asdict().items()
        if getattr(meta.state, k) != v
    }
    assert not differing, differing
    projections.render_edges("t", entries)
    found = markdown.parse("t", markdown.render(state, entries))
    assert _same(found.entries, tuple(entries))


def _without_surrogates(one: Entry) -> Entry:
    fields = json.dumps(entryfields.to_fields(one)).encode()
    found = entryfields.from_fields("t", loads(fields))
    assert found is not None
    return found


def fuzz_markdown(random: Random, _: Path) -> None:
    """Any page is read, and what was read can be written as log and page."""
    data = mutants.page(random)
    if random.randrange(8):
        data = mutants.mutated(random, data)
    page = markdown.parse("t", data)
    for one in page.entries:
        # No log can hold a lone surrogate, which a comment of a page can.
        line = codec.to_line(_without_surrogates(one), 0)
        found = _entry_of(line[:-1])
        assert found is not None
        _written_again([found])
    if not any(one.lost for one in page.damage):
        state = folding.fold("t", page.entries, page.base)
        again = markdown.parse("t", markdown.render(state, page.entries))
        assert _same(again.entries, page.entries)


def fuzz_meta(random: Random, _: Path) -> None:
    """A meta that anyone changed is not believed, and never a crash."""
    state = folding.fold("t", mutants.entries(random, 3))
    unknown = {mutants.plain(random): mutants.plain(random)}
    original = projections.render_meta(state, 7, unknown)
    data = mutants.mutated(random, original)
    meta = projections.read_meta("t", data)
    if isinstance(meta, projections.Meta) and meta.state is not None:
        assert meta.newer or data == original
        assert isinstance(meta.log_size, int)


def fuzz_cursor(random: Random, folder: Path) -> None:
    """A cursor that cannot be read is none."""
    reader = StoreReader(str(folder))
    path = Path(reader.cursor_path("t", "pat"))
    path.parent.mkdir(parents=True, exist_ok=True)
    value = {"key": "pat", "heads": [mutants.plain(random)], "count": 3}
    path.write_bytes(mutants.as_json(random, value))
    cursor = reader.cursor("t", "pat")
    assert isinstance(cursor.entry_count, int)
    assert set(reader.cursors("t")) <= {cursor.key}


_TOML = """[ball]\nenforce = "warn"\n[counterparts]\nCodex = ["Cursor", "Pat"]
[topics.login.counterparts]\nCodex = "Cursor"\n[identity]\nseats = "auto"
[aliases]\ncc = "Claude Code"\n"""
_OLDER = {"canonical": {"cc": "Claude"}, "counterpart": {"Codex": ["Pat"], "a": "b"}}


def fuzz_settings(random: Random, folder: Path) -> None:
    """Settings are whole or a damage; names can be looked up in them."""
    (folder / "config.toml").write_bytes(mutants.mutated(random, _TOML.encode()))
    for name in ("config.json", "agents.json"):
        (folder / name).write_bytes(mutants.as_json(random, _OLDER))
    found = settings.load(str(folder), {"WATERCOOLER_SYNC": mutants.plain(random)})
    assert found.enforce in keys.ENFORCE
    assert found.sync in settings.SYNC
    who = names.parse(mutants.plain(random))
    assert found.directory.key(who) in found.directory.match_keys(who)


_FILES = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/refs/heads/main": f"{'a1' * 20}\n",
    ".git/objects/x": "",
    ".git/config": '[core]\n\tbare = false\n[user]\n\tname = "Pat"\n\temail = p\\t@x\n'
    '[remote "origin"]\n\turl = git@example.org:a/b.git\n[include]\n\tpath = more\n'
    '[includeIf "gitdir:~/**/x[a-z]?/"]\n\tpath = more\n[extensions]\nworktreeConfig\n',
    ".git/more": '[user]\n\tname = Alex ; comment\n\tx = "a\\\nb"\n',
    ".git/packed-refs": f"# pack-refs with: peeled\n{'b2' * 20} refs/heads/old\n"
    f"{'c3' * 20} refs/remotes/origin/watercooler/threads\n^{'d4' * 20}\n",
    ".git/worktrees/store/HEAD": "ref: refs/heads/watercooler/threads\n",
    ".git/worktrees/store/commondir": "../..\n",
    ".git/worktrees/store/gitdir": "{folder}/store/.git\n",
    ".git/worktrees/store/locked": "",
    "store/.git": "gitdir: {folder}/.git/worktrees/store\n",
    "store/threads/t.md": "# t — Thread\n",
}


def git_files(random: Random, folder: Path) -> None:
    """A repository with a store's checkout, one of git's files mutated, or two."""
    victims = random.sample(sorted(_FILES), random.choice((1, 1, 2)))
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.replace("{folder}", str(folder)).encode()
        if name in victims:
            data = mutants.mutated(random, data)
        path.write_bytes(data)


def fuzz_git(random: Random, folder: Path) -> None:
    """Git's own files, whatever they hold, are read or say nothing."""
    git_files(random, folder)
    env = {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "USER": "pat"}
    if not random.randrange(4):
        env |= {"GIT_CONFIG_COUNT": mutants.plain(random, 2).replace("\0", "") or "1"}
        env |= {"GIT_CONFIG_KEY_0": "include.path", "GIT_CONFIG_VALUE_0": "a\\"}
    for start in (folder, folder / "store"):
        where = repository.find(str(start))
        for key in ("user.name", "remote.origin.url", "extensions.worktreeConfig"):
            assert isinstance(config.get(key, where, env), str)
        if where is not None:
            _asked_everything(where)
        try:
            discovery.find(str(start), env)
        except WcError as error:
            helpful(error)


def _asked_everything(where: repository.Repository) -> None:
    assert isinstance(where.branch + where.commit + where.name + where.change_id, str)
    for branch in ("watercooler/threads", "main", "old"):
        repository.checkouts_of(where, branch)
        repository.has_branch(where, branch)
    repository.worktrees(where)


_TIMES = (
    "2026-01-01T12:00:00Z",
    "2026-01-01 12:00:00+02:00",
    "90m",
    "3d",
    "2026-01-01",
)


def fuzz_times(random: Random, _: Path) -> None:
    """Times and ids are understood or refused."""
    data = mutants.mutated(
        random, random.choice((*_TIMES, "7" * 26, "0" * 26)).encode()
    )
    words = data.decode(errors="replace")
    now = random.choice((0, mutants.START_MS, 2**48 - 1))
    times.age(times.utc(words), now)
    milliseconds = times.milliseconds(words)
    assert milliseconds is None or isinstance(milliseconds, int)
    try:
        assert times.since_id(words, now) >= ""
    except InvalidInputError as error:
        helpful(error)
    last = ulid.prefix(words)
    new = ulid.successor(last, now, random.getrandbits(ulid.RANDOM_BITS))
    assert ulid.prefix(new) == new
    if last and ulid.timestamp_ms(last) <= now and ulid.decode(last) < 2**128 - 1:
        assert new > last


def fuzz_text(random: Random, _: Path) -> None:
    """Clean text has nothing to obey, and is as clean as it gets."""
    text = mutants.text(random, 40)
    shown = clean(text)
    assert clean(shown) == shown
    assert not obeyed(shown)
    assert len(one_line(text).splitlines()) <= 1
    assert not obeyed(one_line(text, random.randint(1, 30)))
    who = names.parse(text)
    assert names.parse(str(who)) == who or not who.agent


def obeyed(text: str) -> list[str]:
    """The characters of a text that a terminal obeys, or that turn it around."""
    return [
        one
        for one in text
        if (one < " " and one not in "\n\t")
        or "\x7f" <= one < "\xa0"
        or "\u2028" <= one <= "\u202e"
        or "\u2066" <= one <= "\u2069"
        or "\ud800" <= one <= "\udfff"
    ]


TARGETS: dict[str, Callable[[Random, Path], None]] = {
    "codec": fuzz_codec,
    "markdown": fuzz_markdown,
    "meta": fuzz_meta,
    "cursor": fuzz_cursor,
    "settings": fuzz_settings,
    "git": fuzz_git,
    "times": fuzz_times,
    "text": fuzz_text,
    "words": Words(),
    "statusline": Prompt(),
}


@contextmanager
def ending(seconds: int = HANGS) -> Iterator[None]:
    """Interrupt a case that does not end in time, with HangError."""

    def give_up(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Run(NamedTuple):
    """How many cases of which numbers, out of which seed."""

    cases: int
    seed: str = "1"
    first: int = 0


def fuzz(target: str, run: Run, folder: Path) -> None:
    """Carry out cases of one target in ``folder``; raises FuzzError."""
    for number in range(run.first, run.first + run.cases):
        random = Random(f"{run.seed}:{target}:{number}")
        try:
            with ending():
                TARGETS[target](random, folder)
        except (Exception, HangError) as error:
            again = f"--seed {run.seed} --first {number} --cases 1 {target}"
            raise FuzzError(f"python -m tests.contract.fuzzer {again}") from error


def main(argv: Sequence[str]) -> None:
    """Fuzz until the cases are done or one fails."""
    parser = argparse.ArgumentParser(prog="fuzzer")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], default=[])
    said = parser.parse_args(argv)
    targets: Iterable[str] = said.targets or TARGETS
    for target in targets:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(os.path.realpath(name))
            fuzz(target, Run(said.cases, said.seed, said.first), folder)
        seconds = time.monotonic() - begin
        print(f"{target}: {said.cases} cases in {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
