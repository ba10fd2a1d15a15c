"""Landing in repositories of other shapes, and with what people configure."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.landing.story import (
    CODEX,
    NUMBERS,
    approve,
    begin,
    change,
    head,
    landed_in_each_way,
    line_of,
    login,
    work,
)
from tests.contract.inprocess import Here
from wc_cli.edits.landing.building import signing_reason
from wc_cli.ledger.branch.git import GitError

if TYPE_CHECKING:
    from tests.conftest import Machine


def signer(here: Here, script: str) -> Path:
    """A program that signs as gpg does."""
    path = here.machine.home / "signer"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    here.git("config", "gpg.program", str(path))
    here.git("config", "commit.gpgSign", "true")
    return path


SIGN = """\
cat > /dev/null
printf '\\n[GNUPG:] SIG_CREATED \\n' >&2
printf -- '-----BEGIN PGP SIGNATURE-----\\nabc\\n-----END PGP SIGNATURE-----\\n'"""


def test_what_lands_is_signed_as_git_is_configured(here: Here) -> None:
    login(here)
    signer(here, SIGN)
    here.ok("land", "login")
    assert "\ngpgsig -----BEGIN" in here.git("cat-file", "commit", "main")


def test_nothing_lands_unsigned(here: Here) -> None:
    login(here)
    signer(here, "echo no key >&2; exit 1")
    before = head(here), here.entries("login")
    said = here.fails(7, "land", "login")
    assert "git could not sign the commit that lands login: " in said
    assert "git config user.signingKey" in said
    assert (head(here), here.entries("login")) == before


def test_a_key_that_goes_away_ends_the_landing_and_says_what_landed(here: Here) -> None:
    for topic, line in (("login", 3), ("pay", 9), ("search", 15)):
        work(here, topic, line)
    once = here.machine.home / "signed"
    gone = "echo '[GNUPG:] FAILURE sign 17' >&2; echo 'gpg: No secret key' >&2; exit 1"
    signer(here, f"test -e {once} && {{ {gone}; }}; touch {once}\n{SIGN}")
    done = here.wc("land", "--all")
    landed = done.out.splitlines()
    assert (done.code, len(landed)) == (7, 1)
    assert landed[0].startswith("login: landed on main as ")
    assert "could not sign the commit that lands pay: " in done.err
    assert ". Before that, login landed." in done.err
    assert done.err.count("could not sign") == 1
    assert head(here, "main^2") == head(here, "login")
    assert here.json("read", "login")["status"] == "CLOSED"
    once.unlink()
    again = here.wc("land", "--all", "--json")
    assert [item["topic"] for item in again.json["landed"]] == ["pay"]
    assert "search" in again.error["message"]
    here.git("config", "commit.gpgSign", "false")
    here.ok("land", "--all")
    assert here.json("read", "search")["status"] == "CLOSED"


GPG = """\
error: gpg failed to sign the data:
[GNUPG:] KEY_CONSIDERED 12 0
gpg: signing failed: No secret key
[GNUPG:] FAILURE sign 17

"""


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("error: gpg failed to sign the data\n", "gpg failed to sign the data"),
        (GPG, "gpg: signing failed: No secret key"),
        (
            'error: Load key "/gone": No such file or directory?\n',
            'Load key "/gone": No such file or directory',
        ),
    ],
)
def test_why_a_signature_failed_is_in_the_words_of_what_signs(
    printed: str, reason: str
) -> None:
    error = GitError(printed.splitlines()[0], err=printed.encode())
    assert signing_reason(error) == reason


def test_names_that_are_not_simple(here: Here) -> None:
    tree = here.worktree("app-wt-x", "feature/ein-größeres")
    (tree.path / "a b\té.txt").write_text("x\n", encoding="utf-8")
    tree.git("add", ".")
    tree.git("commit", "-qm", "Füge hinzu")
    tree.ok("new", "big", "-m", "Größer: $(x) `y`", "--to", "Pat", *CODEX)
    here.ok("say", "big", "--approve", "--to", "Pat")
    here.ok("land", "big")
    message = here.git("log", "-1", "--format=%B")
    assert message.startswith("Merge feature/ein-größeres: Größer: $(x) `y`\n")
    assert (here.path / "a b\té.txt").exists()


def test_files_that_are_renamed_deleted_and_executable(here: Here) -> None:
    tree = here.worktree("app-wt-x", "x")
    tree.git("mv", "a.txt", "b.txt")
    tree.git("rm", "-q", "notes.txt")
    (tree.path / "run").write_text("#!/bin/sh\n", encoding="utf-8")
    (tree.path / "run").chmod(0o755)
    (tree.path / "link").symlink_to("b.txt")
    tree.git("add", ".")
    tree.git("commit", "-qm", "x")
    for method, _ in landed_in_each_way(here, tree):
        landed = here.git("ls-tree", "-r", "main")
        assert landed == here.git("ls-tree", "-r", "x"), method
        assert here.git("status", "--porcelain") == "", method
        assert not (here.path / "notes.txt").exists(), method
        assert (here.path / "link").is_symlink(), method


def test_a_bare_repository_with_worktrees(machine: Machine) -> None:
    seed = begin(machine)
    bare = seed.path.parent / "bare.git"
    seed.git("clone", "-q", "--bare", str(seed.path), str(bare))
    folder = Here(machine, bare)
    folder.git("worktree", "add", "-q", "../main-tree", "main")
    here = Here(machine, bare.parent / "main-tree")
    folder.git("worktree", "add", "-q", "-b", "login", "../login-tree")
    tree = Here(machine, bare.parent / "login-tree")
    change(tree, 3, "login")
    tree.ok("new", "login", "-m", "L", "--to", "Pat", *CODEX)
    here.ok("say", "login", "--approve", "--to", "Pat")
    here.ok("land", "login")
    assert line_of(here, 3) == "login"
    assert here.git("status", "--porcelain") == ""


def test_objects_of_sha256(machine: Machine) -> None:
    path = machine.home / "sha"
    machine.git(
        *("init", "-q", "-b", "main", "--object-format=sha256", str(path)),
        cwd=machine.home,
    )
    here = Here(machine, path)
    (path / "notes.txt").write_text(NUMBERS, encoding="utf-8")
    here.git("add", ".")
    here.git("commit", "-qm", "files")
    for method, topic, line in (("--rebase", "a", 3), ("--merge", "b", 9)):
        work(here, topic, line)
        here.ok("land", topic, method)
    assert [line_of(here, 3), line_of(here, 9)] == ["a", "b"]


def test_a_sparse_worktree_stays_sparse(here: Here) -> None:
    (here.path / "lib").mkdir()
    (here.path / "lib/x.txt").write_text("x\n", encoding="utf-8")
    here.git("add", ".")
    here.git("commit", "-qm", "lib")
    tree = here.worktree("app-wt-x", "x")
    (tree.path / "lib/x.txt").write_text("y\n", encoding="utf-8")
    tree.git("commit", "-qam", "y")
    tree.ok("new", "x", "-m", "X", "--to", "Pat", *CODEX)
    here.ok("say", "x", "--approve", "--to", "Pat")
    here.git("sparse-checkout", "set", "docs")
    here.ok("land", "x")
    assert here.git("show", "main:lib/x.txt") == "y"
    assert not (here.path / "lib").exists()
    assert here.git("status", "--porcelain") == ""


def test_a_submodule_and_a_pointer_of_lfs(here: Here) -> None:
    library = here.path.parent / "library"
    here.git("init", "-q", "-b", "main", str(library))
    commit = here.git("-C", str(library), "commit-tree", "-m", "x", EMPTY_TREE).strip()
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n"
    tree = here.worktree("app-wt-x", "x")
    (tree.path / ".gitattributes").write_text("*.bin filter=lfs -text\n", "utf-8")
    (tree.path / "big.bin").write_text(pointer, encoding="utf-8")
    tree.git("add", ".")
    tree.git("update-index", "--add", "--cacheinfo", f"160000,{commit},library")
    tree.git("commit", "-qm", "x")
    tree.ok("new", "x", "-m", "X", "--to", "Pat", *CODEX)
    here.ok("say", "x", "--approve", "--to", "Pat")
    here.ok("land", "x", "--allow-dirty")
    listed = here.git("ls-tree", "main")
    assert f"160000 commit {commit}\tlibrary" in listed
    assert here.git("show", "main:big.bin") == pointer.strip()


def test_submodules_stay_where_they_are_as_with_git_merge(here: Here) -> None:
    library = here.path.parent / "library"
    here.git("init", "-q", "-b", "main", str(library))
    here.git("-C", str(library), "commit", "-q", "--allow-empty", "-m", "1")
    allowed = ("-c", "protocol.file.allow=always")
    here.git(*allowed, "submodule", "--quiet", "add", str(library), "library")
    here.git("commit", "-qm", "library")
    first = here.git("rev-parse", ":library")
    tree = here.worktree("app-wt-x", "x")
    # A commit that this worktree does not have, and is not to ask for.
    later = here.git("-C", str(library), "commit-tree", "-m", "2", f"{first}^{{tree}}")
    tree.git("update-index", "--cacheinfo", f"160000,{later},library")
    tree.git("commit", "-qm", "2")
    tree.ok("new", "x", "-m", "X", "--to", "Pat", *CODEX)
    here.ok("say", "x", "--approve", "--to", "Pat")
    here.git("config", "submodule.recurse", "true")
    here.ok("land", "x")
    assert here.git("rev-parse", "main:library") == later
    assert here.git("-C", "library", "rev-parse", "HEAD") == first
    assert here.git("status", "--porcelain") == "M library"


EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_branches_without_a_common_history(here: Here) -> None:
    tree = here.worktree("app-wt-x", "x")
    tree.git("checkout", "-q", "--orphan", "y")
    tree.git("commit", "-qm", "alone")
    tree.ok("new", "x", "-m", "X", "--to", "Pat", *CODEX)
    here.ok("say", "x", "--approve", "--to", "Pat")
    before = head(here)
    assert "y and main share no history" in here.fails(4, "land", "x")
    assert head(here) == before
    work(here, "login", 3)
    assert "login: landed" in here.ok("land", "--all").out


def test_a_branch_that_is_gone_is_said_to_be(here: Here) -> None:
    tree = login(here)
    here.git("worktree", "remove", str(tree.path))
    here.git("branch", "-D", "login")
    assert "its branch login is not in this" in here.fails(4, "land", "login")


def test_a_branch_that_was_renamed_is_found_once_the_thread_moves(here: Here) -> None:
    login(here)
    here.git("branch", "-m", "login", "sign-in")
    assert "its branch login is not" in here.fails(4, "land", "login")
    here.ok("move", "login", "sign-in")
    here.ok("land", "login")
    assert line_of(here, 3) == "login"


CARRIER = """\
wc: carry 1 entry (login)

This commit changes no file.

{"entry_id": "01M8H7GWS0N3G40AHHHKBG28N0"}

Watercooler-Carry: 1
"""


def test_carriers_and_outboxes_do_not_land(here: Here) -> None:
    tree = work(here, "login", 3, approved=False)
    tree.git("commit", "-q", "--allow-empty", "-m", CARRIER)
    outbox = tree.path / ".watercooler/outbox"
    outbox.mkdir(parents=True)
    (outbox / "x.jsonl").write_text("{}\n", encoding="utf-8")
    (tree.path / "c.txt").write_text("c\n", encoding="utf-8")
    tree.git("add", "-f", ".")
    tree.git("commit", "-qm", "With an outbox")
    (outbox / "y.jsonl").write_text("{}\n", encoding="utf-8")
    tree.git("add", "-f", ".")
    tree.git("commit", "-qm", "Only an outbox")
    change(tree, 9, "nine")
    tip = head(here, "login")
    for method, topic in landed_in_each_way(here, tree):
        assert head(here, "login") == tip
        names = here.git("ls-tree", "-r", "--name-only", "main")
        assert ".watercooler" not in names, method
        assert "Watercooler-Carry" not in here.git("log", "--format=%B", "main"), method
        subjects = here.git("log", "--no-merges", "--format=%s", "main").splitlines()
        assert "Only an outbox" not in subjects, method
        assert line_of(here, 9) == "nine"
        assert here.git("show", "main:c.txt") == "c"
        assert "it has landed on main" in here.fails(4, "land", topic), method


def test_messages_in_any_bytes_and_encoding(here: Here) -> None:
    tree = login(here)
    tree.git("config", "i18n.logOutputEncoding", "ISO-8859-1")
    tree.git("config", "trailer.ifMissing", "doNothing")
    tree.git("config", "trailer.separators", "%")
    tree.git("commit", "-q", "--amend", "-m", "Café\n\nOne\n---\nTwo")
    change(tree, 9, "nine")
    raw = tree.git("cat-file", "commit", "HEAD").encode()
    raw = raw.rstrip(b"\n").replace(b"nine in line 9", b"caf\xe9") + b"\n"
    (tree.path / "raw").write_bytes(raw)
    late = tree.git("hash-object", "-t", "commit", "-w", "--literally", "raw").strip()
    (tree.path / "raw").unlink()
    tree.git("reset", "-q", "--hard", late)
    for method, topic in landed_in_each_way(here, tree):
        assert line_of(here, 9) == "nine", method
        if method == "rebase":
            words = ("log", "-1", "--encoding=UTF-8", "--format=%B", "main~1")
            trailers = f"Watercooler-Topic: {topic}\nReviewed-by: Pat"
            text = f"Café\n\nOne\n---\nTwo\n\n{trailers}"
            assert here.git(*words).strip() == text


def test_a_rebase_does_not_lose_what_a_merge_has_changed(here: Here) -> None:
    tree = login(here)
    change(here, 15, "fifteen")
    tree.git("merge", "-q", "--no-commit", "main")
    (tree.path / "a.txt").write_text("by the merge\n", "utf-8")
    tree.git("commit", "-qam", "merge main")
    approve(here)
    before = head(here)
    assert (
        "conflicts with main: a.txt"
        in here.ok("land", "login", "--rebase", "--dry-run").out
    )
    done = here.wc("land", "login", "--rebase")
    assert (done.code, head(here)) == (9, before)
    assert "rebase leaves merges out" in here.entries("login")[-1]["body"]
    tree.ok("say", "login", "-m", "Back", "--to", "Pat", *CODEX)
    here.ok("say", "login", "--approve", "--to", "Pat")
    here.ok("land", "login", "--merge")
    assert here.git("show", "main:a.txt").strip() == "by the merge"


def test_the_branch_of_the_threads_neither_lands_nor_is_landed_on(here: Here) -> None:
    login(here)
    store = "watercooler/threads"
    before = head(here, store)
    assert "holds the threads" in here.fails(2, "land", "login", "--onto", store)
    assert head(here, store) == before


def test_a_base_in_two_worktrees_waits(here: Here) -> None:
    login(here)
    here.git("worktree", "add", "-q", "--force", "../second", "main")
    before = head(here)
    assert "in several worktrees" in here.fails(4, "land", "login")
    assert head(here) == before


def test_a_hostile_tree_writes_no_file_elsewhere(here: Here) -> None:
    """As nobody can make it with git's own commands, but push it."""
    blob = here.git("rev-parse", "main:a.txt").strip()
    inner = made_tree(here, f"100644 blob {blob}\t.gitattributes\n")
    outer = here.git("ls-tree", "main") + "\n" + f"040000 tree {inner}\t..\n"
    tree = made_tree(here, outer)
    commit = here.git("commit-tree", tree, "-p", "main", "-m", "x").strip()
    here.git("update-ref", "refs/heads/evil", commit)
    work(here, "login", 3)
    here.wc("land", "login", "--onto", "evil")
    assert not Path(tempfile.gettempdir(), ".gitattributes").exists()


def made_tree(here: Here, lines: str) -> str:
    path = here.machine.home / "lines"
    path.write_text(lines, encoding="utf-8")
    return here.git("-c", "alias.make=!git mktree <", "make", str(path)).strip()
