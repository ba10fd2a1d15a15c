"""Git's configuration, compared with what git itself says."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import Git, relaxed
from wc_core.ledger.git import config, repository


class Place(NamedTuple):
    """A repository and a HOME, with git's answer and ours."""

    git: Git
    top: Path

    def asked(self, key: str = "user.name", **env: str) -> tuple[str, str]:
        """What git says, and what we say."""
        full = {k: v for k, v in self.git.env.items() if k != "GIT_CONFIG_NOSYSTEM"} | {
            "GIT_CONFIG_SYSTEM": "/nonexistent"
        }
        full |= env
        done = subprocess.run(
            ["git", "config", "--get", key],
            cwd=self.top,
            env=full,
            check=False,
            capture_output=True,
        )
        said = done.stdout.removesuffix(b"\n").decode(errors="replace")
        where = repository.find(str(self.top))
        return said, config.get(key, where, full)

    def same(self, key: str = "user.name", **env: str) -> str:
        """Our answer, when it is git's."""
        git, ours = self.asked(key, **env)
        assert ours == git
        return ours

    def local(self, text: str) -> None:
        """Replace the repository's own file by one that git accepts."""
        core = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        data = text.encode(errors="surrogateescape")
        (self.top / ".git/config").write_bytes(core.encode() + data)

    def personal(self, text: str) -> None:
        """Replace ``~/.gitconfig``."""
        (self.git.home / ".gitconfig").write_text(text)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    git = Git(tmp_path / "home")
    return Place(git, git.repository(tmp_path / "home/work/repo"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[user]\n\tname = Pat", "Pat"),
        ("[user]\nname=Pat Example\n", "Pat Example"),
        ("[user] name = Pat\n", "Pat"),
        ("[USER]\n NAME = Pat\n", "Pat"),
        ("[user]\r\n\tname = Pat\r\n", "Pat"),
        ("\ufeff[user]\nname = Pat\n", None),  # no BOM in the middle of a file
        ("[user]\nname = a # comment\n", "a"),
        ("[user]\nname = a;b\n", "a"),
        ('[user]\nname = "a;b # c"\n', "a;b # c"),
        ('[user]\nname = " a "b \n', " a b"),
        ('[user]\nname = "a" \n', "a"),
        ('[user]\nname = ""\n', ""),
        ('[user]\nname = a\\"b\\\\c\\td\n', 'a"b\\c\td'),
        ("[user]\nname = \\\n  b\n", "b"),
        ("[user]\nname = a\\\nb\n", "ab"),
        ("[user]\nname = a \\\n  b\n", "a   b"),
        ('[user]\nname = "a \\\n b"\n', "a  b"),
        ("[user]\nname = a # c \\\nemail = x\n", "a"),
        ("[user]\nname = a  b\n", "a  b"),
        ("[user]\nname\n", ""),
        ("[user]\nname =\n", ""),
        ("[user]\nname = a\nname = b\n", "b"),
        ("[user]\nname = a\n[other]\nname = b\n", "a"),
        ("[user]\nname = a\n[user]\nname = b\n", "b"),
        ('[user "x"]\nname = a\n', ""),
        ("; c\n# d\n\n[user] ; e\n# f\nname = a\n", "a"),
        ("[user]\nname = José 🎾\n", "José 🎾"),
        ("[user]\nname = M\udcfcller\n", "M�ller"),
        ("[user]\nname = a\x0bb\x0c\n", "a\x0bb\x0c"),
        ("[user]\nname = a\u00a0\n", "a\u00a0"),
        ("[user]\nname = a \\", "a "),
    ],
)
def test_a_name_is_read_as_git_reads_it(
    place: Place, text: str, value: str | None
) -> None:
    place.local(text)
    if value is None:
        assert place.asked()[1] == ""
    else:
        assert place.same() == value


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ('[remote "Origin"]\nurl = u\n', "remote.Origin.url", "u"),
        ('[remote "Origin"]\nurl = u\n', "remote.origin.url", ""),
        ('[Remote "a.b"]\nURL = u\n', "REMOTE.a.b.Url", "u"),
        ("[remote.Origin]\nurl = u\n", "remote.origin.url", "u"),
        ('[remote   "a\\"b\\\\c\\d"]\nurl = u\n', 'remote.a"b\\cd.url', "u"),
        ('[remote "a]b"]\nurl = u\n', "remote.a]b.url", "u"),
        ('[remote "a#b"] url = u\n', "remote.a#b.url", "u"),
        ('[remote ""]\nurl = u\n', "remote.url", None),
        ("[a-b]\nc-d = e\n", "a-b.c-d", "e"),
    ],
)
def test_subsections_keep_their_case(
    place: Place, text: str, key: str, value: str | None
) -> None:
    place.local(text)
    if value is not None:
        assert place.same(key) == value


@pytest.mark.parametrize(
    "text",
    [
        "na me", "[user", "[user x]", '[user "x]\n', '[user "x" ]', "[us er]",
        '[user"x"]', "[user]\n1name = b", "[user]\nname = \\x", '[user]\nname = "b',
        '[user "a\nb"]', '[user "a\\\nb"]', "[user]\nname # b", "[user]\nname x = b",
        "[user]\n= b", '[user "a',
    ],
)  # fmt: skip
def test_of_a_broken_file_what_stands_before_the_error_counts(
    place: Place, text: str
) -> None:
    place.local(f"[user]\nname = before\n{text}\n[user]\nname = after\n")
    git, ours = place.asked()
    assert ours == "before"
    assert git in {"", "before"}


pieces = st.sampled_from(
    ["a", "B", " ", "  ", "#", ";", '"', "\\", '\\"', "\\\\", "\\n", "\\t", "\\\n",
     "=", "[", "]", ".", "é", "\n", "\r\n", "name", "name = x", "\n[user]\n",
     '\n[user "S"]\n', "\n[User.S]\n", "\n\tname = ", '\nname = "']
)  # fmt: skip


@relaxed
@given(st.lists(pieces, max_size=14).map("".join))
def test_git_and_we_agree_on_any_file_git_understands(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config")
        path.write_bytes(f"[user]\n{text}\n".encode())
        done = subprocess.run(
            ["git", "config", "-z", "--file", path, "--list"],
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            check=False,
            capture_output=True,
        )
        data = path.read_bytes().decode()
    ours = []
    for section, subsection, key, value in config.parse(data):
        name = ".".join(one for one in (section, subsection, key) if one)
        ours.append(name if value is None else f"{name}\n{value}")
    if done.returncode == 0:
        assert ours == done.stdout.decode().split("\0")[:-1]


# --- which files count, and in which order -----------------------------------


def name_file(path: Path, name: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[user]\nname = {name}\n")
    return str(path)


def test_the_nearer_file_wins(place: Place) -> None:
    home = place.git.home
    assert place.same() == ""
    system = name_file(home / "system", "system")
    assert place.same(GIT_CONFIG_SYSTEM=system) == "system"
    name_file(home / ".config/git/config", "xdg default")
    assert place.same(GIT_CONFIG_SYSTEM=system) == "xdg default"
    name_file(home / "xdg/git/config", "xdg")
    xdg = str(home / "xdg")
    assert place.same(XDG_CONFIG_HOME=xdg) == "xdg"
    assert place.same(XDG_CONFIG_HOME="") == "xdg default"
    name_file(home / ".gitconfig", "home")
    assert place.same(XDG_CONFIG_HOME=xdg) == "home"
    other = name_file(home / "other", "other")
    assert place.same(GIT_CONFIG_GLOBAL=other) == "other"
    assert place.same(GIT_CONFIG_GLOBAL="") == ""
    assert place.same(GIT_CONFIG_GLOBAL="/nonexistent") == ""
    place.local("[user]\nname = local\n")
    assert place.same(GIT_CONFIG_GLOBAL=other) == "local"
    added = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "User.Name",
        "GIT_CONFIG_VALUE_0": "environment",
        "GIT_CONFIG_KEY_1": "a.b",
        "GIT_CONFIG_VALUE_1": "c",
    }
    assert place.same(**added) == "environment"
    assert place.same(**(added | {"GIT_CONFIG_COUNT": ""})) == "local"
    assert place.asked(**(added | {"GIT_CONFIG_COUNT": "nonsense"}))[1] == "local"
    assert place.asked(**(added | {"GIT_CONFIG_COUNT": "9"}))[1] == "environment"


@pytest.mark.parametrize(
    "value",
    ["1", "true", "YES", "on", "2", "1k", "0", "false", "no", "off", "", "-1", "00"],
)
def test_the_system_file_can_be_turned_off(place: Place, value: str) -> None:
    system = name_file(place.git.home / "system", "system")
    place.same(GIT_CONFIG_SYSTEM=system, GIT_CONFIG_NOSYSTEM=value)


def test_without_a_home_or_a_repository_there_may_be_nothing(tmp_path: Path) -> None:
    env = {"GIT_CONFIG_NOSYSTEM": "1"}
    assert config.get("user.name", None, env) == ""
    name_file(tmp_path / "git/config", "xdg")
    env |= {"XDG_CONFIG_HOME": str(tmp_path)}
    assert config.get("user.name", None, env) == "xdg"
    assert config.get("nonsense", None, env) == ""


def test_files_of_dotfile_managers_are_links(place: Place) -> None:
    home = place.git.home
    dotfiles = home / "dotfiles/gitconfig"
    name_file(dotfiles, "linked")
    (home / ".gitconfig").symlink_to("dotfiles/gitconfig")
    assert place.same() == "linked"
    # What a linked file includes is relative to the link, not to its target.
    name_file(dotfiles.parent / "more", "beside the target")
    name_file(home / "more", "beside the link")
    dotfiles.write_text("[include]\npath = more\n")
    assert place.same() == "beside the link"


def test_a_file_that_cannot_be_read_says_nothing(place: Place) -> None:
    (place.git.home / ".gitconfig").mkdir()
    assert place.asked()[1] == ""
    (place.git.home / ".gitconfig").rmdir()
    os.mkfifo(place.git.home / ".gitconfig")
    assert config.get("user.name", None, {"HOME": str(place.git.home)}) == ""


@pytest.mark.parametrize(
    ("setting", "used"),
    [
        ("", False),
        ("worktreeConfig = false", False),
        ("worktreeConfig = true", True),
        ("worktreeConfig", True),
        ("worktreeConfig = 1", True),
    ],
)
def test_a_worktree_has_its_own_file_only_where_that_is_turned_on(
    place: Place, setting: str, *, used: bool
) -> None:
    linked = place.top.with_name("linked")
    place.git(place.top, "worktree", "add", "-q", linked)
    place.local(f"[user]\nname = shared\n[extensions]\n{setting}\n")
    name_file(place.top / ".git/config.worktree", "main")
    name_file(place.top / ".git/worktrees/linked/config.worktree", "linked")
    assert place.same() == ("main" if used else "shared")
    assert Place(place.git, linked).same() == ("linked" if used else "shared")


# --- includes ----------------------------------------------------------------


@pytest.mark.parametrize("path", ["more", "./more", "~/more", "{home}/more"])
def test_a_file_includes_another_in_its_place(place: Place, path: str) -> None:
    home = place.git.home
    name_file(home / "more", "included")
    path = path.format(home=home)
    place.personal(f"[user]\nname = before\n[include]\npath = {path}\n")
    assert place.same() == "included"
    place.personal(f"[include]\npath = {path}\n[user]\nname = after\n")
    assert place.same() == "after"


def test_what_is_included_need_not_be_there_and_may_go_in_circles(
    place: Place,
) -> None:
    place.personal("[user]\nname = here\n[include]\npath = nowhere\npath\npath =\n")
    assert place.asked()[1] == "here"
    place.personal("[user]\nname = here\n[include]\npath = .gitconfig\n")
    assert place.asked()[1] == "here"
    place.personal("[include]\npath = ~nobody-of-that-name/x\n[user]\nname = here\n")
    assert place.asked()[1] == "here"


def test_the_environment_includes_absolute_paths(place: Place) -> None:
    more = name_file(place.git.home / "more", "included")
    env = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "include.path"}
    assert place.same(**env, GIT_CONFIG_VALUE_0=more) == "included"
    assert place.asked(**env, GIT_CONFIG_VALUE_0="more")[1] == ""


def conditional(place: Place, condition: str) -> bool:
    """Whether git and we include a file on this condition."""
    name_file(place.git.home / "more", "included")
    place.personal(f'[includeIf "{condition}"]\npath = more\n')
    return place.same() == "included"


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("gitdir:~/work/", True),
        ("gitdir:~/work/**", True),
        ("gitdir:~/work", False),
        ("gitdir:~/work/repo/.git", True),
        ("gitdir:~/work/*", False),
        ("gitdir:~/*/repo/.git", True),
        ("gitdir:~/*/.git", False),
        ("gitdir:~/other/", False),
        ("gitdir:~/", True),
        ("gitdir:work/", True),
        ("gitdir:**/work/", True),
        ("gitdir:wor?/", True),
        ("gitdir:w[a-o]rk/", True),
        ("gitdir:w[!o]rk/", False),
        ("gitdir:w[^a]rk/", True),
        ("gitdir:w[z-a]rk/", False),
        ("gitdir:work/[r/]epo/", True),
        ("gitdir:work[/]repo/", False),
        ("gitdir:repo/.git", True),
        ("gitdir:**/.git", True),
        ("gitdir:.git", True),
        ("gitdir:epo/.git", False),
        ("gitdir:w**k/", True),
        ("gitdir:home**repo/", False),
        ("gitdir:home/**/repo/", True),
        ("gitdir:home/**/work/", True),
        ("gitdir:home/*/work/", False),
        ("gitdir:./work/", True),
        ("gitdir:./wo*/", True),
        ("gitdir:./other/", False),
        ("gitdir:{top}/", True),
        ("gitdir:{top}/.git", True),
        ("gitdir:{top}", False),
        ("gitdir:WORK/", False),
        ("gitdir/i:WORK/", True),
        ("gitdir/i:~/WORK/", True),
        ("gitdir/i:./Work/", True),
        ("gitdir:work\\\\/", None),
        ("gitdir:w[ork/", False),
        ("onbranch:main", True),
        ("onbranch:ma*", True),
        ("onbranch:other", False),
        ("onbranch:main/", False),
        ("onbranch:**", True),
        ("hasconfig:remote.*.url:https://example.org/**", True),
        ("hasconfig:remote.*.url:https://example.org/*", False),
        ("hasconfig:remote.*.url:https://elsewhere/**", False),
        ("hasconfig:user.name:Pat", False),
        ("unheard:of", False),
    ],
)
def test_a_file_is_included_on_a_condition(
    place: Place, condition: str, *, holds: bool | None
) -> None:
    place.git(place.top, "remote", "add", "o", "https://example.org/a/b.git")
    found = conditional(place, condition.format(top=place.top))
    assert holds is None or found is holds


def test_branches_in_folders_match_the_folder(place: Place) -> None:
    place.git(place.top, "checkout", "-q", "-b", "fix/ui/menu")
    assert conditional(place, "onbranch:fix/")
    assert conditional(place, "onbranch:fix/**")
    assert not conditional(place, "onbranch:fix/*")
    place.git(place.top, "checkout", "-q", "--detach")
    assert not conditional(place, "onbranch:fix/")


def test_a_linked_worktree_matches_by_its_own_git_directory(place: Place) -> None:
    linked = place.git.home / "elsewhere"
    place.git(place.top, "worktree", "add", "-q", linked)
    assert conditional(Place(place.git, linked), "gitdir:~/work/")
    assert conditional(Place(place.git, linked), "gitdir:worktrees/elsewhere")
    assert not conditional(place, "gitdir:worktrees/elsewhere")


def test_the_folder_of_the_including_file_stands_for_itself(tmp_path: Path) -> None:
    git = Git(tmp_path / "h*me")
    place = Place(git, git.repository(tmp_path / "h*me/repo"))
    assert conditional(place, "gitdir:./repo/")
    place.personal("")
    elsewhere = tmp_path / "huhume"
    (elsewhere / "repo").mkdir(parents=True)
    moved = Place(Git(tmp_path / "h*me"), git.repository(elsewhere / "repo/x"))
    assert not conditional(moved, "gitdir:./repo/")


def test_outside_a_repository_no_condition_holds(place: Place) -> None:
    name_file(place.git.home / "more", "included")
    place.personal('[includeIf "gitdir:~/"]\npath = more\n')
    outside = Place(place.git, place.git.home)
    assert outside.same() == ""
