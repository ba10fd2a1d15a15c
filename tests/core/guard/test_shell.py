"""The targets of shell commands: those that are written out, and no others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.edits.guard import shell
from wc_core.edits.guard.words import UnreadableCommandError, words

if TYPE_CHECKING:
    from pathlib import Path

CWD = "/app"


def targets(command: str) -> list[str]:
    """Those in the folder, by their paths below it."""
    return [path.removeprefix(f"{CWD}/") for path in shell.targets(command, CWD)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo x > a.py", ["a.py"]),
        ("echo x >a.py", ["a.py"]),
        ("echo x >> src/a.py", ["src/a.py"]),
        ("echo x >| a.py", ["a.py"]),
        ("echo x 2>a.log", ["a.log"]),
        ("make &> a.log", ["a.log"]),
        ("make &>> a.log", ["a.log"]),
        ("make > a.log 2>&1", ["a.log"]),
        ("echo x > 'my file.py'", ["my file.py"]),
        ('echo x > "my file.py"', ["my file.py"]),
        (r"echo x > my\ file.py", ["my file.py"]),
        ("> a.py", ["a.py"]),
        ("cat > a.py <<'EOF'\n> b.py\nrm c.py\nEOF\n", ["a.py"]),
        ("cat <<EOF > a.py\n> b.py\nEOF\n", ["a.py"]),
        ("cat <<-EOF > a.py\n\t> b.py\n\tEOF\nrm c.py", ["a.py", "c.py"]),
        ("cat <<A <<B > a.py\nx\nA\ny\nB\n", ["a.py"]),
        ("make && echo x > a.py; rm b.py || rm c.py", ["a.py", "b.py", "c.py"]),
        ("cat x | tee a.py b.py", ["a.py", "b.py"]),
        ("tee -a a.py < x", ["a.py"]),
        ("sed -i 's/a/b/' a.py b.py", ["a.py", "b.py"]),
        ("sed -i.bak 's/a/b/' a.py", ["a.py"]),
        ("sed -i '' 's/a/b/' a.py", ["a.py"]),
        ("sed --in-place=.bak -E 's/a/b/' a.py", ["a.py"]),
        ("sed -n -i -e 's/a/b/' -e p a.py", ["a.py"]),
        ("sed -ne p -i a.py", ["a.py"]),
        ("sed -Ei 's/a/b/' a.py", ["a.py"]),
        ("mv a.py b.py", ["a.py", "b.py"]),
        ("mv -f a.py b.py c", ["a.py", "b.py", "c/a.py", "c/b.py"]),
        ("rm -rf a.py src", ["a.py", "src"]),
        ("rm -- -f", ["-f"]),
        ("git checkout -- a.py", ["a.py"]),
        ("git checkout HEAD~1 -- a.py src", ["a.py", "src"]),
        ("git restore --source=main -- a.py", ["a.py"]),
        ("git -C src checkout -- a.py", ["src/a.py"]),
        ("cd src && echo x > a.py", ["src/a.py"]),
        ("(cd src && rm a.py); rm b.py", ["src/a.py", "b.py"]),
        ("A=1 B='x y' rm a.py", ["a.py"]),
        ("sudo rm a.py", ["a.py"]),
        ("/bin/rm ./x/../a.py", ["a.py"]),
        ("rm a.py # rm b.py", ["a.py"]),
        ("rm a.py \\\n  b.py", ["a.py", "b.py"]),
        ("if true; then\n  rm a.py\nfi", ["a.py"]),
        ("if true; then rm a.py; else rm b.py; fi", ["a.py", "b.py"]),
        ("while read x; do rm a.py; done < x > y", ["a.py", "y"]),
        ("{ rm a.py; } && ! rm b.py", ["a.py", "b.py"]),
        ("[[ a > b ]] && rm a.py", ["a.py"]),
        ("(( a > b )) && rm a.py", ["a.py"]),
        ("rm /etc/x", ["/etc/x"]),
        ("cd /elsewhere; rm x", ["/elsewhere/x"]),
        ("make >& a.log", ["a.log"]),
        ("for x in 1 2; do (cd src && rm a.py); rm b.py; done", ["src/a.py", "b.py"]),
        ("make > >(tee a.log) && rm a.py", ["a.log", "a.py"]),
        (
            "if rm a.py; then rm b.py; elif rm c.py; then :; fi",
            ["a.py", "b.py", "c.py"],
        ),
        ("while cd src; do rm a.py; done", ["src/a.py"]),
        ("if [[ a > b ]]; then rm a.py; fi", ["a.py"]),
        ("cd src || exit 1; rm a.py", ["src/a.py"]),
        ("cd src && make || exit 1\nrm a.py", ["src/a.py"]),
        ("cd src && ls | rm a.py", ["src/a.py"]),
        ("rm a.py; case $x in b) rm b.py;; esac; rm c.py", ["a.py"]),
        ("rm a.py; f() { rm b.py; }; rm c.py", ["a.py"]),
        ("git --no-pager -c x=y checkout -- a.py", ["a.py"]),
        ("apply_patch <<'EOF'\n*** Update File: a.py\n+rm b.py\nEOF\n", ["a.py"]),
        (
            "cd src && apply_patch << X\n*** Add File: a.py\nX\nrm b",
            ["src/a.py", "src/b"],
        ),
        ("apply_patch '*** Delete File: a.py'", ["a.py"]),
    ],
)
def test_targets_that_are_written_out(command: str, expected: list[str]) -> None:
    assert targets(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "",
        "echo 'x > a.py'",
        'echo "x > a.py"',
        r"echo x \> a.py",
        "echo '>' a.py",
        "grep -n 'rm a.py' x",
        "echo rm a.py",
        "f=a; echo x >> $f.py",
        'echo x > "$f"',
        "echo x > $(name)",
        "echo x > `name`",
        "echo x > ${f}.py",
        "rm *.py",
        "rm a?.py",
        "rm [ab].py",
        "rm {a,b}.py",
        "rm ~/a.py",
        "sed 's/a/b/' a.py",
        "sed -n p a.py",
        "sed $options a.py",
        "cat < a.py",
        "cat <<< a.py",
        "echo x >&2",
        "git checkout main",
        "git checkout a.py",
        "git restore --staged -- a.py",
        "git -C $dir checkout -- a.py",
        "git status -- a.py",
        "cd $dir && rm a.py",
        "cd - && rm a.py",
        "pushd src; rm a.py",
        "mv -t src a.py",
        "mv a.py",
        "echo 'open > a.py",
        "echo $(open > a.py",
        "cat <<EOF\nrm a.py\n",
        'python -c \'open("a.py", "w")\'',
        "$rm a.py",
        "words=(rm a.py)",
        "words+=(rm a.py); rm b.py",
        "echo x >&-",
        "echo x 2>&1-",
        "if [[ a > b ]]; then :; fi",
        "! [[ a > b ]]",
        "cd src | rm a.py",
        "cd src & rm a.py",
        "ls | cd src; rm a.py",
        "cd src || rm a.py",
        "cd src && make || rm a.py",
        "(cd src; case $x in a) rm a.py;; esac)",
        "f() { cd src; }; rm a.py",
        "function f { cd src; }; rm a.py",
        "eval 'cd src'; rm a.py",
        "git --work-tree=/x checkout -- a.py",
        "git --git-dir /x/.git checkout -- a.py",
        "GIT_WORK_TREE=/x git checkout -- a.py",
        "GIT_DIR=/x/.git git checkout -- a.py",
        "cat > $notes <<'EOF'\n*** Update File: a.py\nEOF\n",
        "echo '*** Update File: a.py'",
        'apply_patch "*** Update File: $x"',
        "x" * 200_000,
    ],
)
def test_what_is_not_written_out_is_no_target(command: str) -> None:
    assert targets(command) == []


def test_moving_into_a_folder(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    found = shell.targets("mv a.py src", str(tmp_path))
    assert found == (f"{tmp_path}/a.py", f"{tmp_path}/src/a.py")


@given(st.text(st.sampled_from("ab /'\"\\$`(){}<>|&;\n*?~#=-"), max_size=40))
def test_any_text_is_read_to_its_end(command: str) -> None:
    for path in shell.targets(command, CWD):
        assert os.path.isabs(path)
    try:
        found = words(command)
    except UnreadableCommandError:
        return
    assert all(word.text for word in found if word.operator)


@given(st.text(st.characters(exclude_characters="\0'", exclude_categories=["Cs"])))
def test_quoted_text_is_one_word_and_no_operator(text: str) -> None:
    (word,) = words(f"'{text}'")
    assert (word.text, word.literal, word.operator) == (text, True, False)
