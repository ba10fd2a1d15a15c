"""What is put into people's files can be taken out again, and nothing else moves."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import amounts
from tests.cli.install.test_jsonc import texts
from tests.conftest import SOURCE
from wc_cli.agents.install import disk, engine, ledger
from wc_cli.agents.install.changes import Add, Block, Change, OwnFile, Part, Set
from wc_cli.agents.install.engine import PartOutcome, Want
from wc_cli.agents.install.formats import jsonc, toml
from wc_cli.agents.install.formats.jsonc import UnreadableError
from wc_cli.agents.install.ledger import Owner
from wc_core.base.errors import ConflictError, CorruptError, WcError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SERVER = {"command": "wc-observe", "args": []}
SETTINGS = """\
// Mine.
{
  "model": "large", // the good one
  "statusLine": {"type": "command",  "command": "mine"},
  "permissions": { "allow": ["Bash(ls)"] },
}
"""
CONFIG = """\
# Mine.
model = "large"  # the good one

[mcp_servers.docs]
command = "docs"
"""


def tree(home: Path) -> dict[str, tuple[bytes | None, int]]:
    """Every file and folder below a home, with its permissions."""
    return {
        str(one.relative_to(home)): (
            one.read_bytes() if one.is_file() else None,
            stat.S_IMODE(one.lstat().st_mode),
        )
        for one in home.rglob("*")
    }


def chained(old: Any) -> Any:
    if "wc-statusline" in old["command"]:
        return old
    return {**old, "command": f"wc-statusline --chain '{old['command']}'"}


def wants(home: Path) -> list[Want]:
    """A part of every kind."""
    settings, config = home / ".claude/settings.json", home / ".codex/config.toml"
    line = {"type": "command", "command": "wc-statusline"}
    parts: dict[tuple[str, str], tuple[Change, ...]] = {
        ("claude", "server"): (
            Set(home / ".claude.json", ("mcpServers", "watercooler"), SERVER),
        ),
        ("claude", "permissions"): (
            Add(settings, ("permissions", "allow"), "Bash(wc say:*)"),
            Add(settings, ("permissions", "allow"), "Bash(wc ack:*)"),
        ),
        ("claude", "hooks"): (Add(settings, ("hooks", "Stop"), {"x": 1}),),
        ("claude", "status-line"): (Set(settings, ("statusLine",), line, chained),),
        ("codex", "server"): (
            Set(config, ("mcp_servers", "watercooler"), SERVER, format="toml"),
            Set(
                config,
                ("mcp_servers", "watercooler2", "enabled"),
                value=True,
                format="toml",
            ),
            Add(
                config, ("sandbox_workspace_write", "writable_roots"), "/store", "toml"
            ),
        ),
        ("codex", "skill"): (OwnFile(home / ".agents/skills/watercooler/S.md", "x\n"),),
        ("gemini", "skill"): (
            OwnFile(home / ".agents/skills/watercooler/S.md", "x\n"),
        ),
        ("bash", "prompt"): (Block(home / ".bashrc", ("PS1=1", "export PS1")),),
    }
    return [Want(Owner(*names), Part(names[1], one)) for names, one in parts.items()]


def install(home: Path, *what: Want) -> tuple[PartOutcome, ...]:
    with ledger.open_ledger(home) as book:
        return engine.carry_out(engine.plan_install(book, what))


def remove(home: Path, *what: Want) -> tuple[PartOutcome, ...]:
    with ledger.open_ledger(home) as book:
        owners = [one.owner for one in what]
        return engine.carry_out(engine.plan_removal(book, owners))


def states(home: Path, what: list[Want]) -> list[str]:
    with ledger.open_ledger(home) as book:
        return [engine.part_state(book, one) for one in what]


def write(home: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


HOMES: dict[str, dict[str, str]] = {
    "nothing": {},
    "all of it": {
        ".claude.json": '{"mcpServers": {"docs": {"command": "docs"}}, "n": 1}',
        ".claude/settings.json": SETTINGS,
        ".codex/config.toml": CONFIG,
        ".bashrc": "alias ll='ls -l'",
        ".agents/skills/mine/SKILL.md": "mine\n",
    },
    "empty files": {".claude.json": "", ".codex/config.toml": "", ".bashrc": "\n"},
    "from another system": {
        ".claude/settings.json": "\ufeff" + SETTINGS.replace("\n", "\r\n"),
        ".codex/config.toml": CONFIG.replace("\n", "\r\n"),
        ".bashrc": "x=1\r\n",
    },
}


@pytest.mark.parametrize("case", HOMES)
def test_installing_twice_is_installing_once_and_removing_leaves_no_trace(
    tmp_path: Path, case: str
) -> None:
    write(tmp_path, HOMES[case])
    before, what = tree(tmp_path), wants(tmp_path)
    assert all(one.files and not one.error for one in install(tmp_path, *what)[:-3])
    there = tree(tmp_path)
    assert states(tmp_path, what) == ["installed"] * len(what)
    assert not any(one.files or one.error for one in install(tmp_path, *what))
    assert tree(tmp_path) == there
    assert not any(one.error or one.edited for one in remove(tmp_path, *what))
    assert tree(tmp_path) == before
    assert set(states(tmp_path, what)) == {"not installed"}
    assert tree(tmp_path) == before


def test_what_someone_wrote_in_the_meantime_stays(tmp_path: Path) -> None:
    write(tmp_path, HOMES["all of it"])
    what = wants(tmp_path)
    install(tmp_path, *what)
    edits = {
        ".claude.json": ('"n": 1', '"n": 2'),
        ".claude/settings.json": ('"large", //', '"small", // not'),
        ".codex/config.toml": ("# Mine.", '# Mine, still.\napproval = "never"'),
        ".bashrc": ("# <<< watercooler <<<\n", "# <<< watercooler <<<\nlast=1\n"),
    }
    for name, (old, new) in edits.items():
        path = tmp_path / name
        path.write_text(path.read_text().replace(old, new))
    assert states(tmp_path, what) == ["installed"] * len(what)
    assert not any(one.error or one.edited for one in remove(tmp_path, *what))
    assert (tmp_path / ".bashrc").read_text() == "alias ll='ls -l'\nlast=1\n"
    for name in (".claude.json", ".claude/settings.json", ".codex/config.toml"):
        old, new = edits[name]
        wanted = HOMES["all of it"][name].replace(old, new)
        assert (tmp_path / name).read_text() == wanted, name
    assert not (tmp_path / ".watercooler").exists()


def test_what_we_made_and_someone_used_stays_as_theirs(tmp_path: Path) -> None:
    what = wants(tmp_path)
    install(tmp_path, *what)
    settings = tmp_path / ".claude/settings.json"
    text = settings.read_text()
    settings.write_text(
        text.replace('"Bash(wc say:*)"', '"Bash(ls)", "Bash(wc say:*)"')
    )
    config = tmp_path / ".codex/config.toml"
    config.write_text(config.read_text() + "# Mine.\n[other]\nx = 1\n")
    remove(tmp_path, *what)
    left = "".join(settings.read_text().split())
    assert left == '{"permissions":{"allow":["Bash(ls)"]}}'
    assert config.read_text().strip() == "# Mine.\n[other]\nx = 1"
    assert {one.name for one in tmp_path.iterdir()} == {".claude", ".codex"}


def test_what_someone_changed_of_ours_stays_and_is_reported(tmp_path: Path) -> None:
    what = wants(tmp_path)
    install(tmp_path, *what)
    skill = tmp_path / ".agents/skills/watercooler/S.md"
    skill.write_text("mine now\n")
    server = tmp_path / ".claude.json"
    server.write_text(server.read_text().replace("[]", '["--debug"]'))
    found = zip(what, states(tmp_path, what), strict=True)
    assert {one.owner[:2] for one, how in found if how == "changed"} == {
        *(("claude", "server"), ("codex", "skill"), ("gemini", "skill"))
    }
    there = tree(tmp_path)
    refused = [one.error for one in install(tmp_path, *what) if one.error]
    assert {one.code for one in refused} == {"CONFLICT"}
    assert len(refused) == 3
    assert tree(tmp_path) == there
    left = {one.owner[:2]: one.edited for one in remove(tmp_path, *what) if one.edited}
    assert left == {
        ("claude", "server"): (str(server),),
        ("gemini", "skill"): (str(skill),),
    }
    assert skill.read_text() == "mine now\n"
    assert "--debug" in server.read_text()
    assert not (tmp_path / ".watercooler").exists()


def test_a_value_of_theirs_that_has_half_a_character_is_composed_with_ours(
    tmp_path: Path,
) -> None:
    theirs = r'{"statusLine": {"type": "command", "command": "x\ud800"}}'
    write(tmp_path, {".claude/settings.json": theirs})
    before = tree(tmp_path)
    (line,) = [one for one in wants(tmp_path) if one.owner.part == "status-line"]
    assert [one.error for one in install(tmp_path, line)] == [None]
    assert states(tmp_path, [line]) == ["installed"]
    remove(tmp_path, line)
    assert tree(tmp_path) == before


def test_a_newer_version_changes_its_own_in_place(tmp_path: Path) -> None:
    write(tmp_path, HOMES["all of it"])
    before = tree(tmp_path)
    settings = tmp_path / ".claude/settings.json"

    def version(*items: str, line: str, lines: str) -> list[Want]:
        def compose(old: Any) -> Any:
            return {**old, "command": f"{line} --chain {old['command']}"}

        allow = ("permissions", "allow")
        status = Set(settings, ("statusLine",), {"command": line}, compose)
        added = tuple(Add(settings, allow, one) for one in items)
        block = Block(tmp_path / ".bashrc", (lines,))
        return [
            Want(Owner("claude", "permissions"), Part("permissions", added)),
            Want(Owner("claude", "status-line"), Part("status-line", (status,))),
            Want(Owner("bash", "prompt"), Part("prompt", (block,))),
        ]

    old = version("a", "b", line="old", lines="old")
    new = version("b", "c", line="new", lines="new")
    install(tmp_path, *old)
    assert states(tmp_path, new) == ["outdated"] * 3
    assert not any(one.error for one in install(tmp_path, *new))
    assert states(tmp_path, new) == ["installed"] * 3
    text = settings.read_text()
    assert '["Bash(ls)", "b", "c"]' in text
    assert '"new --chain mine"' in text
    assert "old" not in text + (tmp_path / ".bashrc").read_text()
    remove(tmp_path, *new)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("meanwhile", ["", "# end\n", "[last]\na = 1\n"])
@pytest.mark.parametrize("theirs", ["", "a = 1", "[mcp_servers.b]\r\nc = 1 # d\r\n"])
def test_a_newer_version_of_a_table_goes_as_the_older_one_does(
    tmp_path: Path, theirs: str, meanwhile: str
) -> None:
    config, profile = tmp_path / "config.toml", tmp_path / ".profile"
    for path in (config, profile):
        path.write_bytes(theirs.encode())

    def version(command: str) -> list[Want]:
        keys = ("mcp_servers", "watercooler")
        server = Set(config, keys, {"command": command, "args": []}, format="toml")
        roots = Add(config, ("sandbox", "roots"), "/store", "toml")
        parts = ("server", server), ("permissions", roots)
        block = Part("prompt", (Block(profile, (command,)),))
        codex = [Want(Owner("codex", name), Part(name, (one,))) for name, one in parts]
        return [*codex, Want(Owner("bash", "prompt"), block)]

    for command in ("old", "new", "newer"):
        assert not any(one.error for one in install(tmp_path, *version(command)))
    for path in (config, profile):
        path.write_bytes(path.read_bytes() + meanwhile.encode())
    assert not any(one.error or one.edited for one in remove(tmp_path, *version("old")))
    newline = "\n" if meanwhile and not theirs.endswith("\n") and theirs else ""
    assert profile.read_bytes().decode() == theirs + newline + meanwhile
    # Before a table of theirs that came later, an empty line stays.
    left = config.read_bytes().decode()
    assert left.replace("\n\n", "\n") == theirs + newline + meanwhile


REFUSED: dict[str, tuple[str, str, str, str]] = {
    "broken JSON": (
        ".claude.json",
        '{\n  "a": oops\n}',
        "CORRUPT",
        ".json:2:8: not JSON",
    ),
    "a merge": (".claude.json", "<<<<<<< HEAD\n", "CORRUPT", ".json:1:1: not JSON"),
    "broken TOML": (".codex/config.toml", "a = 1\nb = [", "CORRUPT", ".toml"),
    "no text": (".bashrc", "caf\udce9\n", "CORRUPT", ".bashrc:1: not UTF-8"),
    "a server of theirs": (
        *(".claude.json", '{"mcpServers": {"watercooler": {"command": "mine"}}}'),
        *("CONFLICT", "already has mcpServers.watercooler"),
    ),
    "a table of theirs": (
        *(".codex/config.toml", '[mcp_servers.watercooler]\ncommand = "mine"\n'),
        *("CONFLICT", "already has mcp_servers.watercooler"),
    ),
    "a skill of theirs": (
        *(".agents/skills/watercooler/S.md", "mine"),
        *("CONFLICT", "S.md exists, but wc did not write it"),
    ),
    "no object": (".claude.json", '{"mcpServers": []}', "CORRUPT", "is not an object"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_changed_is_refused_and_all_else_is_done(
    tmp_path: Path, case: str
) -> None:
    name, text, code, message = REFUSED[case]
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(errors="surrogateescape"))
    before, what = tree(tmp_path), wants(tmp_path)
    outcomes = install(tmp_path, *what)
    refused = [one.error for one in outcomes if one.error]
    assert refused
    for error in refused:
        assert (error.code, message in error.message) == (code, True), error.message
        assert str(path) in error.message
        assert error.hint
    assert path.read_bytes() == text.encode(errors="surrogateescape")
    assert len(refused) < len(what)
    remove(tmp_path, *what)
    assert tree(tmp_path) == before


def _read_only(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0o444)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [_read_only, _pipe, _folder, _loop])
def test_what_is_not_a_file_to_be_written_is_refused(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / ".claude.json")
    server, *_ = wants(tmp_path)
    (outcome,) = install(tmp_path, server)
    assert outcome.error
    assert outcome.error.code in {"STORAGE", "CORRUPT"}
    assert str(tmp_path / ".claude.json") in outcome.error.message
    assert {one.name for one in tmp_path.iterdir()} == {".claude.json"}


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    write(tmp_path, {"dotfiles/claude.json": "{}\n"})
    (dotfiles / "claude.json").chmod(0o600)
    (tmp_path / ".claude.json").symlink_to("dotfiles/claude.json")
    before = tree(tmp_path)
    server, *_ = wants(tmp_path)
    install(tmp_path, server)
    assert (tmp_path / ".claude.json").is_symlink()
    assert "wc-observe" in (dotfiles / "claude.json").read_text()
    assert stat.S_IMODE((dotfiles / "claude.json").stat().st_mode) == 0o600
    assert {one.name for one in dotfiles.iterdir()} == {"claude.json"}
    remove(tmp_path, server)
    assert tree(tmp_path) == before


def test_a_new_file_of_settings_is_for_its_user_alone(tmp_path: Path) -> None:
    install(tmp_path, *wants(tmp_path))
    assert stat.S_IMODE((tmp_path / ".claude.json").stat().st_mode) == 0o600


def test_what_another_program_writes_this_moment_is_not_overwritten(
    tmp_path: Path,
) -> None:
    write(tmp_path, {".claude.json": "{}"})
    server, *_ = wants(tmp_path)
    with ledger.open_ledger(tmp_path) as book:
        plan = engine.plan_install(book, [server])
        (tmp_path / ".claude.json").write_text('{"n": 1}')
        (outcome,) = engine.carry_out(plan)
    assert outcome.error
    assert "by another program" in outcome.error.message
    assert (tmp_path / ".claude.json").read_text() == '{"n": 1}'
    assert not (tmp_path / ".watercooler").exists()


def test_two_at_once_wait_for_each_other(tmp_path: Path) -> None:
    what = wants(tmp_path)
    done = [threading.Thread(target=install, args=(tmp_path, one)) for one in what]
    for one in done:
        one.start()
    for one in done:
        one.join()
    assert states(tmp_path, what) == ["installed"] * len(what)
    remove(tmp_path, *what)
    assert not [*tmp_path.iterdir()]


def test_who_died_between_ledger_and_file_is_no_trouble(tmp_path: Path) -> None:
    write(tmp_path, HOMES["all of it"])
    before, what = tree(tmp_path), wants(tmp_path)
    install(tmp_path, *what)
    there = tree(tmp_path)
    # The ledger is written first: as if the process had ended then.
    write(tmp_path, HOMES["all of it"])
    (tmp_path / ".agents/skills/watercooler/S.md").unlink()
    assert set(states(tmp_path, what)) == {"changed"}
    assert not any(one.error for one in install(tmp_path, *what))
    assert {**tree(tmp_path), **_ledger(there)} == there
    write(tmp_path, HOMES["all of it"])
    assert not any(one.error for one in remove(tmp_path, *what))
    assert tree(tmp_path) == before


def test_what_someone_who_was_killed_left_behind_goes(tmp_path: Path) -> None:
    write(tmp_path, HOMES["all of it"])
    before, what = tree(tmp_path), wants(tmp_path)
    install(tmp_path, *what)
    half = ".wc-half"
    for name in (".claude.json", ".watercooler/install/ledger.json"):
        (tmp_path / f"{name}{half}").write_text('{"half')
    for name in ("0" * 64, f"{'1' * 64}{half}"):
        (tmp_path / ".watercooler/install/backups" / name).write_text("")
    assert not any(one.error for one in remove(tmp_path, *what))
    assert tree(tmp_path) == before
    # As if it had ended before the first change.
    (tmp_path / ".watercooler/install/backups").mkdir(parents=True)
    for name in ("lock", f"ledger.json{half}", "backups/2"):
        (tmp_path / ".watercooler/install" / name).write_text("")
    ledger.tidy(tmp_path)
    assert tree(tmp_path) == before


def _ledger(there: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in there.items() if "ledger.json" in name}


def test_a_full_disk_leaves_a_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("theirs")
    code = (
        "import resource, signal, sys; from wc_cli.agents.install import disk;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10));"
        "disk.write(sys.argv[1], b'x' * 1000)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "StorageError" in done.stderr
    assert "could not be written: File too large" in done.stderr
    assert path.read_text() == "theirs"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_file_where_a_folder_belongs_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".codex").write_text("")
    done = [one.error for one in install(tmp_path, *wants(tmp_path)) if one.error]
    folder = f"{tmp_path}/.codex"
    message = f"{folder}/config.toml cannot be created: {folder} is not a folder."
    assert [one.message for one in done] == [message]


def test_a_ledger_that_cannot_be_read_stops_everything(tmp_path: Path) -> None:
    install(tmp_path, *wants(tmp_path))
    book = tmp_path / ".watercooler/install/ledger.json"
    for text in ("{", "[]", '{"version": 2}', '{"version": 1, "files": {"x": {}}}'):
        book.write_text(text)
        before = tree(tmp_path)
        with pytest.raises(CorruptError, match=r"ledger\.json"):
            install(tmp_path, *wants(tmp_path))
        assert tree(tmp_path) == before


def test_a_lost_backup_is_reported(tmp_path: Path) -> None:
    write(tmp_path, HOMES["all of it"])
    server, *_ = wants(tmp_path)
    install(tmp_path, server)
    (backup,) = (tmp_path / ".watercooler/install/backups").iterdir()
    backup.write_text("other")
    (outcome,) = remove(tmp_path, server)
    assert outcome.error
    assert str(backup) in outcome.error.message


@settings(deadline=None)  # it writes to the disk
@given(texts(), st.sampled_from(["", "\ufeff"]))
def test_any_json_is_the_same_after_installing_and_removing(
    text: str, mark: str
) -> None:
    _there_and_back(".claude/settings.json", mark + text.lstrip("\ufeff"))


_TOML_KEYS = st.text("abw", min_size=1, max_size=3)
_TOML_VALUES = st.sampled_from(
    ['"x"', "1", "[ 1,\n 2, # c\n]", "{ a = 1 }", "'''\nx\n'''", "2020-01-01"]
)
_TOML_ENDS = st.sampled_from(["\n", "  # c\n", "\n\n", "\r\n"])


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """Keys and tables, most of which make sense together."""
    pairs = st.tuples(_TOML_KEYS, _TOML_VALUES, _TOML_ENDS)
    names = st.sampled_from(
        [*("mcp_servers.a", "mcp_servers", "z", "sandbox_workspace_write", "y.x")]
    )
    text = "".join(f"{a} = {b}{c}" for a, b, c in draw(st.lists(pairs, max_size=3)))
    for name in draw(st.lists(names, unique=True, max_size=4)):
        text += f"[{name}]\n"
        text += "".join(
            f"{a} = {b}{c}" for a, b, c in draw(st.lists(pairs, max_size=2))
        )
    return text if draw(st.booleans()) else text.rstrip()


@settings(deadline=None)
@given(toml_texts())
def test_any_toml_is_the_same_after_installing_and_removing(text: str) -> None:
    _there_and_back(".codex/config.toml", text)


def _there_and_back(name: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write(home, {name: text})
        before = tree(home)
        what = [
            one
            for one in wants(home)
            if any(str(change.path).endswith(name) for change in one.part.changes)
        ]
        outcomes = install(home, *what)
        if all(one.error is None for one in outcomes):
            assert states(home, what) == ["installed"] * len(what)
            assert tree(home) != before
        remove(home, *what)
        assert tree(home) == before


@pytest.mark.parametrize(
    "text",
    [
        'a.b = ["/x"] # why\n',
        'a = { b = ["/#x"] } # why # not\n',
        '[a]\nb = [\n  "/x", # one\n  "/y" # two\n]\nc = 1\n',
    ],
)
def test_an_array_with_comments_is_added_to_beside_them(text: str) -> None:
    added = toml.append_item(text, ("a", "b"), "/new").text
    assert toml.find(added, ("a", "b"))[-1] == "/new"
    assert added.count("#") == text.count("#")
    taken = toml.without_item(added, ("a", "b"), "/new")
    assert toml.parse(taken) == toml.parse(text)
    assert taken.count("#") == text.count("#")


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ("", []),
        ("# one\na = 'x # y' # two\n", ["# one", "# two"]),
        ('a = """\n# no\n"""" # one\nc = \'\'\'# no\'\'\'\n', ["# one"]),
        ("b = [ # one\n  '#', # two\n]\n", ["# one", "# two"]),
    ],
)
def test_a_value_may_contain_the_sign_of_a_comment(
    text: str, comments: list[str]
) -> None:
    keys = ("land", "check")
    for value in ("echo safe #", "echo \"#\" # '#'", "echo plain"):
        text = toml.set_value(text, keys, value).text
        assert toml.find(text, keys) == value
    for comment in comments:
        assert comment in text
    assert toml.find(toml.without(text, keys), keys) is None
    with pytest.raises(UnreadableError, match="changing more"):
        toml.without("[a]\nb = [ # this would be lost\n]\n", ("a", "b"))


def test_toml_that_an_edit_would_damage_is_refused() -> None:
    with pytest.raises(UnreadableError):
        toml.set_value("a = 1\n", ("a", "b"), 1)
    with pytest.raises(UnreadableError, match="a is not an array"):
        toml.append_item("a = 1\n", ("a",), 1)
    with pytest.raises(UnreadableError) as caught:
        toml.parse("a = 1\nb = oops\n")
    assert (caught.value.line, caught.value.column) == (2, 5)
    with pytest.raises(UnreadableError, match="digits"):
        toml.parse(f"a = {'1' * 5000}\n")


def test_files_of_others_are_not_ours_to_write(tmp_path: Path) -> None:
    path = Path("/etc/passwd")
    if not os.geteuid():
        path = tmp_path / "theirs"
        path.touch()
        os.chown(path, 12345, 12345)
    with pytest.raises(WcError, match="belongs to another user"):
        disk.check(str(path))


_STEPS = st.lists(
    st.tuples(st.sampled_from(["install", "remove", "theirs"]), st.integers(0, 7)),
    max_size=8,
)


@settings(deadline=None, max_examples=15)
@given(_STEPS)
def test_in_whatever_order_it_is_done_what_is_theirs_is_left(
    steps: list[tuple[str, int]],
) -> None:
    texts = HOMES["all of it"]
    name = ".claude/settings.json"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write(home, texts)
        what, wanted = wants(home), texts[name]
        path = home / name
        for how, number in steps:
            if how == "theirs":
                key = (f"mine {number}",)
                path.write_text(jsonc.set_value(path.read_text(), key, number).text)
                wanted = jsonc.set_value(wanted, key, number).text
            else:
                work = install if how == "install" else remove
                (outcome,) = work(home, what[number])
                assert outcome.error is None
        assert not any(one.error or one.edited for one in remove(home, *what))
        left = {one: data for one, (data, _) in tree(home).items() if data is not None}
        assert left == {
            one: text.encode() for one, text in (texts | {name: wanted}).items()
        }


def test_a_file_that_moved_into_dotfiles_is_still_known(tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    write(tmp_path, {".claude.json": '{"n": 1}'})
    server, *_ = wants(tmp_path)
    install(tmp_path, server)
    dotfiles.mkdir()
    (tmp_path / ".claude.json").rename(dotfiles / "claude.json")
    (tmp_path / ".claude.json").symlink_to("dotfiles/claude.json")
    assert states(tmp_path, [server]) == ["installed"]
    assert not any(outcome.error for outcome in install(tmp_path, server))
    assert not any(outcome.error for outcome in remove(tmp_path, server))
    assert (dotfiles / "claude.json").read_text() == '{"n": 1}'
    assert (tmp_path / ".claude.json").is_symlink()
    assert not (tmp_path / ".watercooler").exists()


def in_project(top: Path) -> list[Want]:
    """Parts in files of a repository."""
    parts = (
        Part("server", (Set(top / ".mcp.json", ("mcpServers", "wc"), SERVER),)),
        Part("skill", (OwnFile(top / ".claude/skills/watercooler/S.md", "x\n"),)),
        Part("hooks", (Add(top / ".claude/settings.json", ("hooks",), 1),)),
    )
    return [Want(Owner("claude", part.name, str(top)), part) for part in parts]


LINKS = (
    *(".mcp.json", ".claude", ".claude/settings.json"),
    *(
        ".claude/skills",
        ".claude/skills/watercooler",
        ".claude/skills/watercooler/S.md",
    ),
)


@pytest.mark.parametrize("target", ["outside", "top/.git", "missing"])
@pytest.mark.parametrize("name", LINKS)
def test_a_link_out_of_a_repository_is_not_followed(
    tmp_path: Path, name: str, target: str
) -> None:
    home, top = tmp_path / "home", tmp_path / "top"
    for folder in (home, top / ".git", tmp_path / "outside"):
        folder.mkdir(parents=True)
    link, to = top / name, tmp_path / target
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(to / "file" if "." in link.name[1:] else to)
    before = tree(tmp_path)
    outcomes = install(home, *in_project(top))
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    assert errors
    assert all("leads out of the repository" in error.message for error in errors)
    refused = [outcome.owner.part for outcome in outcomes if outcome.error is not None]
    assert {
        part: state
        for part, state in zip(
            ("server", "skill", "hooks"), states(home, in_project(top)), strict=True
        )
        if state != "installed"
    } == dict.fromkeys(refused, "unreadable")
    there = tree(tmp_path)
    for path in (one for one in there if one.startswith(("outside", "top/.git"))):
        assert path in before
    assert not (tmp_path / "missing").exists()
    remove(home, *in_project(top))
    assert tree(tmp_path) == before


def test_a_link_within_a_repository_is_followed(tmp_path: Path) -> None:
    home, top = tmp_path / "home", tmp_path / "top"
    home.mkdir()
    (top / "shared/skills").mkdir(parents=True)
    (top / ".claude").symlink_to("shared")
    before = tree(tmp_path)
    assert not any(outcome.error for outcome in install(home, *in_project(top)))
    assert (top / "shared/skills/watercooler/S.md").read_text() == "x\n"
    remove(home, *in_project(top))
    assert tree(tmp_path) == before


def test_a_link_that_came_after_installing_is_not_followed_either(
    tmp_path: Path,
) -> None:
    home, top, outside = (tmp_path / name for name in ("home", "top", "outside"))
    home.mkdir()
    top.mkdir()
    install(home, *in_project(top))
    # Their file has the same content: without the link, it would be deleted.
    (top / ".claude").rename(outside)
    (top / ".claude").symlink_to(outside)
    before = tree(outside)
    outcomes = remove(home, *in_project(top))
    refused = [outcome.owner.part for outcome in outcomes if outcome.error]
    assert refused == ["skill", "hooks"]
    assert tree(outside) == before
    (top / ".claude").unlink()
    outside.rename(top / ".claude")
    assert not any(outcome.error for outcome in remove(home, *in_project(top)))
    assert not [*top.iterdir()]


def test_a_folder_that_becomes_a_link_before_the_write_is_noticed(
    tmp_path: Path,
) -> None:
    home, top, outside = (tmp_path / name for name in ("home", "top", "outside"))
    for folder in (home, top / ".claude", outside):
        folder.mkdir(parents=True)
    with ledger.open_ledger(home) as book:
        plan = engine.plan_install(book, in_project(top))
        (top / ".claude").rmdir()
        (top / ".claude").symlink_to(outside)
        outcomes = engine.carry_out(plan)
    assert [bool(outcome.error) for outcome in outcomes] == [False, True, True]
    assert not [*outside.iterdir()]


# A client that adds to a counter in its settings, which it has read before, as often as
# it is told: in place, or by a file that takes the place of the other.
CLIENT = """
import json, os, sys, time
path, way, times, pause, moment = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(times)):
    time.sleep(float(pause))
    with open(path) as file:
        fields = json.load(file)
    fields["n"] += 1
    time.sleep(float(moment))
    name = path if way == "in place" else f"{path}.theirs"
    with open(name, "w") as file:
        time.sleep(float(moment))
        json.dump(fields, file)
    if name != path:
        os.rename(name, path)
"""


def client_at(
    path: Path, way: str, times: int, pause: float, moment: float
) -> subprocess.Popen[bytes]:
    """A client that waits for a line on its standard input."""
    words = (str(path), way, *map(str, (times, pause, moment)))
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert client.stdout is not None
    client.stdout.readline()
    return client


def start(client: subprocess.Popen[bytes]) -> None:
    assert client.stdin is not None
    client.stdin.write(b"\n")
    client.stdin.flush()


def ended(client: subprocess.Popen[bytes]) -> int:
    client.communicate()
    return client.returncode


def carried_out(home: Path, want: Want, *, removes: bool) -> tuple[PartOutcome, ...]:
    """What a command does: with another try where a client writes at the same time."""
    with ledger.open_ledger(home) as book:

        def plan() -> engine.Plan:
            if removes:
                return engine.plan_removal(book, [want.owner])
            return engine.plan_install(book, [want])

        return engine.carry_out(plan(), plan)


@pytest.mark.parametrize("removes", [False, True], ids=["install", "uninstall"])
@pytest.mark.parametrize("way", ["in place", "renamed"])
def test_what_a_client_writes_at_the_same_moment_is_kept_with_ours(
    tmp_path: Path, way: str, *, removes: bool
) -> None:
    """At every moment: the client reads before, and writes after."""
    server, *_ = wants(tmp_path)
    path = tmp_path / ".claude.json"
    checked = 0
    for step in range(amounts.rounds(20, 1000)):
        path.write_text('{"n": 0}')
        if removes:
            install(tmp_path, server)
        pause = step % 20 / 1000
        with client_at(path, way, 1, pause, 0.004) as client:
            start(client)
            (outcome,) = carried_out(tmp_path, server, removes=removes)
            is_over = client.poll() is not None
            assert ended(client) == 0
        fields = jsonc_value(path)
        assert fields["n"] == 1, step
        is_there = "watercooler" in fields.get("mcpServers", {})
        if is_over:  # on a busy machine, it may write long after that
            assert outcome.error or is_there is not removes, step
            checked += 1
        remove(tmp_path, server)
        assert is_over is False or jsonc_value(path) == {"n": 1}
        assert not (tmp_path / ".watercooler").exists()
    assert checked


def test_a_client_that_never_stops_writing_loses_nothing(tmp_path: Path) -> None:
    server, *_ = wants(tmp_path)
    path, times = tmp_path / ".claude.json", 300
    path.write_text('{"n": 0}')
    with client_at(path, "renamed", times, 0.001, 0) as client:
        start(client)
        for number in range(6):
            (outcome,) = carried_out(tmp_path, server, removes=bool(number % 2))
            if outcome.error is not None:
                assert "by another program just now" in outcome.error.message
        assert ended(client) == 0
    assert jsonc_value(path)["n"] == times


def jsonc_value(path: Path) -> Any:
    node = jsonc.parse(path.read_text())
    assert node is not None
    return node.value


@pytest.mark.parametrize(
    "theirs", ['{"n": 2}', '{"n": 3, "long": "xxxxxxxxxxxxxxxxx"}']
)
def test_what_a_client_wrote_into_the_replaced_file_comes_back(
    tmp_path: Path, theirs: str
) -> None:
    server, *_ = wants(tmp_path)
    path = tmp_path / ".claude.json"
    path.write_text('{"n": 1, "more": "than that"}')
    with ledger.open_ledger(tmp_path) as book, path.open("r+") as opened:
        plan = engine.plan_install(book, [server])
        plan.workspace.write()
        opened.write(theirs)
        opened.truncate()
        opened.flush()
        assert plan.workspace.lost() == (str(path),)
        assert path.read_text() == theirs
        plan = engine.plan_install(book, [server])
        plan.workspace.write()
        assert plan.workspace.lost() == ()
    assert "wc-observe" in path.read_text()
    assert '"n": ' in path.read_text()
    remove(tmp_path, server)
    assert path.read_text() == theirs


@pytest.mark.parametrize("number", [1, 2])
def test_what_a_client_undid_or_brought_back_is_noticed(
    tmp_path: Path, number: int
) -> None:
    server, *_ = wants(tmp_path)
    path = tmp_path / ".claude.json"
    path.write_text('{"n": 1}')
    with ledger.open_ledger(tmp_path) as book:
        plan = engine.plan_install(book, [server])
        plan.workspace.write()
        with_ours = path.read_text()
        path.write_text(f'{{"n": {number}}}')
        assert plan.workspace.lost() == (str(path),)
        assert not engine.carry_out(engine.plan_install(book, [server]))[0].error
        plan = engine.plan_removal(book, [server.owner])
        plan.workspace.write()
        path.write_text(with_ours.replace("1", str(number)))
        assert plan.workspace.lost() == (str(path),)
        plan = engine.plan_removal(book, [server.owner])
        plan.workspace.write()
        # What has nothing of ours is theirs alone.
        path.write_text('{"n": 7}')
        assert plan.workspace.lost() == ()
    assert path.read_text() == '{"n": 7}'
    assert not (tmp_path / ".watercooler").exists()


def test_a_file_that_a_client_has_only_emptied_is_waited_for(tmp_path: Path) -> None:
    server, *_ = wants(tmp_path)
    path = tmp_path / ".claude.json"
    path.write_text('{"n": 1}')
    install(tmp_path, server)
    text = path.read_text()
    path.write_text("")
    writer = threading.Timer(0.02, path.write_text, [text])
    writer.start()
    remove(tmp_path, server)
    writer.join()
    assert path.read_text() == '{"n": 1}'


def test_what_came_between_reading_and_replacing_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "settings"
    half = Path(disk.half_of(str(path)))
    for before, after in ((b"old", b"ours"), (b"old", None), (None, b"ours")):
        path.write_bytes(b"theirs")
        half.unlink(missing_ok=True)
        if after is not None:
            half.write_bytes(after)
        with pytest.raises((ConflictError, FileExistsError)):
            disk._move_into_place(str(path), before, after)
        assert path.read_bytes() == b"theirs"
