"""Idioms that must not return to what people read: pages, messages, comments.

Each of them makes a native reader stop. The list is short on purpose: what is
on it was found in our own text, and has a plain replacement that always fits.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLAIN = {
    r"as ever": "as usual",
    r"anew": "again, or: new",
    r"mend(s|ing)?": "fix, or: repair",
    r"balls? (is|are) at": "NAME has the ball",
    r"shall": "should, or: must",
    r"(is|are|was|does|do) not \w+ any ?more": "no longer",
    r"to and fro": "back and forth",
    r"hereby|thereof|thereby|whence|lest": "say it in usual words",
    r"like-named": "of the same name",
    r"go(es)? round": "go around, or: bypass",
    r"in force": "current",
    r"for ever": "forever",
    r"in vain": "for nothing, or: without success",
    r"all the same": "anyway",
    r"once more": "again",
    r"says? of": "say about",
    r"speaks? of": "mention, or: be about",
    r"sign of life": "say what happens: renew, be active",
    r"(it|this|that|which) is no (commit|entry|field|file|format|link|number|object|"
    r"path|tag|text|thread|time|topic)": "is not a …",
    r"takes? away|taken away": "remove",
    r"yet to be": "does not exist yet, or: still has to be",
    r"of (its|their) own accord": "automatically, or: on its own",
    r"are to do|is to do|who shall": "should",
    r"as of now": "now, or: current",
    r"counts? no more": "no longer counts",
    r"(at|on) no remote": "not pushed",
    r"somebody|everybody|anybody(?! \|)": "someone, anyone, everyone",
    r"any ?more": "no longer",
    r"each once": "once each, or: without repetition",
    r"for want of": "for lack of",
    r"gates? of time": "time gate",
    r"what is said": "what it says, or: the text",
    r"lets? through": "pass the filter",
    r"else than": "other than",
    r"(is|are) told (of|from)": "hear of, be notified of, or: be distinguished",
    r"tells? from": "distinguish",
    r"(is|are) mended": "repaired",
    r"(are|is) both given|both are given": "exclude each other",
    r"is answered with how": "say what the error says",
    r"in a train": "on a train",
    r"from \d+ on": "from … up, or: of … or more",
}
# In the names of tests, which are sentences, too.
NAMES = {
    r"(some|any|every)body": "someone, anyone, everyone",
    r"(is|are)_told(_|$)(?!to|not|not_to|how|what|who|where)": "reported, notified",
    r"(is|are)_said$": "reported, shown",
    r"told_(apart|from|of)": "distinguished, reported",
    r"mend(s|ed)?": "repair",
    r"anew": "again",
    r"meanwhile": "in_the_meantime",
    r"shall|lest": "should",
}
# Gone from the packages that only read, where nothing should bring them back.
READING = ("src/wc_core", "src/wc_observe")
PLAIN_WHERE_READ = {
    r"one after the other": "one by one",
    r"meanwhile": "in the meantime",
    r"told apart|tells? apart": "distinguish",
    r"looked at": "examine, check",
    r"(is|are) asked for": "request, require",
    r"taken in": "process, apply",
    r"may begin with": "can start",
    r"is away": "is unavailable",
}
KINDS = ("*.md", "*.py", "*.sh", "*.js", "*.html", "*.1")


@cache
def texts() -> list[Path]:
    """The files that people read, without licences of others and this list."""
    found = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    found += [ROOT / "SECURITY.md", *filter(Path.is_file, (ROOT / "bin").iterdir())]
    for folder in ("docs", "src", "tests"):
        for kind in KINDS:
            found += (ROOT / folder).rglob(kind)
    return [path for path in found if path != Path(__file__).resolve()]


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def pattern_of(*idioms: str) -> re.Pattern[str]:
    """Idioms as words of their own, not as parts of a name."""
    words = "|".join(f"(?:{idiom})" for idiom in idioms)
    return re.compile(rf"(?<![\w\"-])(?:{words})(?![\w\"-])", re.IGNORECASE)


@cache
def texts_with_any(*idioms: str) -> list[Path]:
    """The texts with at least one of these idioms. Looking for all of them at once
    takes a quarter of the time."""
    pattern = pattern_of(*idioms)
    return [path for path in texts() if pattern.search(read(path))]


def found_in(text: str, idiom: str) -> list[str]:
    """The lines with an idiom."""
    pattern = pattern_of(idiom)
    if not pattern.search(text):
        return []
    return [line.strip() for line in text.splitlines() if pattern.search(line)]


@pytest.mark.parametrize("idiom", PLAIN)
def test_an_idiom_does_not_return(idiom: str) -> None:
    lines = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in texts_with_any(*PLAIN)
        for line in found_in(read(path), idiom)
    ]
    assert lines == [], f"rather: {PLAIN[idiom]}"


@pytest.mark.parametrize("idiom", PLAIN_WHERE_READ)
def test_an_idiom_does_not_return_to_the_reading_packages(idiom: str) -> None:
    lines = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in texts_with_any(*PLAIN_WHERE_READ)
        if str(path.relative_to(ROOT)).startswith(READING)
        for line in found_in(read(path), idiom)
    ]
    assert lines == [], f"rather: {PLAIN_WHERE_READ[idiom]}"


@pytest.mark.parametrize("idiom", NAMES)
def test_an_idiom_does_not_return_to_the_name_of_a_test(idiom: str) -> None:
    pattern = re.compile(rf"def (test_(?:\w+_)?(?:{idiom})(?:_\w+)?)\(")
    names = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "tests").rglob("*.py")
        for name in _test_names(path)
        if pattern.fullmatch(f"def {name}(")
    ]
    assert names == [], f"rather: {NAMES[idiom]}"


def _test_names(path: Path) -> list[str]:
    return re.findall(r"def (test_\w+)\(", read(path))


@pytest.mark.parametrize(
    ("line", "idiom"),
    [
        ("It works as ever.", "as ever"),
        ("the ball is at Codex", r"balls? (is|are) at"),
        ("Mend it: run wc doctor", r"mend(s|ing)?"),
        ("A path that is no file.", r"(it|this|that|which) is no (commit|file)"),
        ("What the line says of it.", r"says? of"),
    ],
)
def test_an_idiom_is_found(line: str, idiom: str) -> None:
    assert found_in(line, idiom) == [line]
    assert pattern_of(*PLAIN).search(line)


def test_a_name_is_not_an_idiom() -> None:
    assert found_in('fields["mend"] = shall_not', "mend|shall") == []
