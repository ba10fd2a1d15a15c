"""Who is who, and when two names mean the same one."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.core.strategies import relaxed, texts
from wc_core.base import names
from wc_core.base.names import SPELLINGS, Directory, Name, fold, parse


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Codex", Name("Codex")),
        (" Claude Code ", Name("Claude Code")),
        ("Codex (pat)", Name("Codex", "", "pat")),
        ("Codex(pat)", Name("Codex", "", "pat")),
        ("Codex@fix", Name("Codex", "fix")),
        ("Claude Code @ fix ( pat )", Name("Claude Code", "fix", "pat")),
        ("Codex@fix/ui (pat)", Name("Codex", "fix/ui", "pat")),
        ("Codex@a@b", Name("Codex", "a@b")),
        # Anything else is all agent.
        ("", Name("")),
        ("(pat)", Name("(pat)")),
        ("Codex ()", Name("Codex ()")),
        ("@fix", Name("@fix")),
        ("Codex@", Name("Codex@")),
        ("Codex@ (pat)", Name("Codex@", "", "pat")),
        ("pat)", Name("pat)")),
        ("a (b) c", Name("a (b) c")),
    ],
)
def test_a_name_has_an_agent_and_perhaps_a_seat_and_a_tag(
    text: str, name: Name
) -> None:
    assert parse(text) == name


@relaxed
@given(texts)
def test_what_was_read_is_written_so_that_it_is_read_the_same(text: str) -> None:
    assert parse(str(parse(text))) == parse(text)


ME = Name("Claude Code", "fix", "pat")


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("Claude Code@fix (pat)", True),
        ("claude", True),
        ("CLAUDE  CODE", True),
        ("claude-code", True),
        ("Claude (Pat)", True),
        ("Claude@FIX", True),
        ("Claude@other", False),
        ("Claude (sam)", False),
        ("Claude@other (pat)", False),
        ("Claude@fix (sam)", False),
        ("Codex", False),
        ("Codex@fix (pat)", False),
        ("", False),
    ],
)
def test_a_name_with_fewer_parts_means_any(pattern: str, *, meant: bool) -> None:
    assert Directory().matches(pattern, ME) is meant


def test_a_fuller_name_does_not_mean_one_of_whom_less_is_known() -> None:
    assert not Directory().matches("Codex (pat)", Name("Codex"))


def test_keys_that_mean_someone_start_with_the_fullest_and_come_once() -> None:
    directory = Directory()
    assert directory.match_keys(ME) == (
        "claudecode@fix(pat)",
        "claudecode@fix",
        "claudecode(pat)",
        "claudecode",
    )
    assert directory.match_keys(Name("Codex")) == ("codex",)


@pytest.mark.parametrize(("written", "agent"), list(SPELLINGS.items()))
def test_platforms_have_one_canonical_name(written: str, agent: str) -> None:
    directory = Directory()
    assert directory.canonical(Name(written.upper(), "s", "t")) == Name(agent, "s", "t")
    assert directory.same(written, agent)


@pytest.mark.parametrize(
    ("aliases", "one", "other", "same"),
    [
        ({}, "Codex@a", "codex @ A", True),
        ({}, "Codex@a", "Codex", False),
        ({}, "Codex@a", "Codex (a)", False),
        ({"cc": "Claude Code"}, "CC (pat)", "Claude (pat)", True),
        ({"cc": "claude"}, "cc", "Claude Code", True),
        ({"a": "b", "b": "c"}, "A", "c", True),
        ({"a": "b", "b": "a"}, "a", "a (x)", False),
    ],
)
def test_aliases_are_followed_to_their_end(
    aliases: dict[str, str], one: str, other: str, *, same: bool
) -> None:
    assert Directory(SPELLINGS | aliases).same(one, other) is same


@relaxed
@given(texts, texts)
def test_spelling_out_a_name_does_not_change_who_is_meant(one: str, other: str) -> None:
    directory = Directory()
    assert directory.same(one, str(parse(one)))
    assert directory.same(one, other) == directory.same(other, one)
    assert directory.same(one, one.upper()) or fold(one) != fold(one.upper())


@pytest.mark.parametrize(
    ("me", "mine", "offered", "others"),
    [
        (
            "Codex@review (pat)",
            ("Codex@review (pat)", "codex@REVIEW", "codex cli @review (Pat)"),
            ("Codex", "Codex (pat)"),
            ("Codex@fix", "Codex@review (sam)", "Codex (sam)", "Claude", "Pat"),
        ),
        (
            "Claude Code (pat)",
            ("claude (pat)",),
            ("Claude",),
            ("Claude@fix (pat)", "Claude (sam)"),
        ),
        ("Pat", ("pat", " PAT "), (), ("Codex (pat)", "Pat@fix", "Sam")),
    ],
)
def test_a_ball_is_mine_offered_to_me_or_someone_else_s(
    me: str, mine: tuple[str, ...], offered: tuple[str, ...], others: tuple[str, ...]
) -> None:
    directory, name = Directory(), parse(me)
    for whose, holders in (
        (names.MINE, mine),
        (names.OFFERED, offered),
        (names.OTHERS, others),
        (names.FREE, (None, "", " ")),
    ):
        found = [directory.whose(holder, name) for holder in holders]
        assert found == [whose] * len(holders)


@pytest.mark.parametrize(
    ("holder", "me", "in_cloud", "here"),
    [
        ("Codex@cloud", "Codex@work", "offered", "others"),
        ("codex @ Cloud", "Codex@work", "offered", "others"),
        ("Codex@cloud/session", "Codex@work", "offered", "others"),
        ("Codex@cloud (Pat)", "Codex@work (Pat)", "offered", "others"),
        ("Codex@cloud", "Codex@work (Pat)", "offered", "others"),
        ("Codex@cloud (Pat)", "Codex@work (Zoe)", "others", "others"),
        ("Codex@cloud", "Claude Code@claude/fix", "others", "others"),
        ("Codex@cloud/fix", "Codex@work", "others", "others"),
        ("Codex@work", "Codex@work", "mine", "mine"),
        ("Codex", "Codex@work", "offered", "offered"),
    ],
)
def test_the_seats_of_the_cloud_mean_who_works_there(
    holder: str, me: str, in_cloud: str, here: str
) -> None:
    assert Directory(in_cloud=True).whose(holder, parse(me)) == in_cloud
    assert Directory().whose(holder, parse(me)) == here
    assert Directory(in_cloud=True).matches(holder, parse(me)) == (in_cloud != "others")


def test_a_seat_answers_to_its_former_names_too() -> None:
    me = Name("Codex", "pr-12", "pat", former=("review",))
    directory = Directory()
    for ball, whose in {
        "Codex@pr-12 (pat)": names.MINE,
        "codex@Review": names.MINE,
        "Codex (pat)": names.OFFERED,
        "Codex@review (sam)": names.OTHERS,
        "Codex@other": names.OTHERS,
    }.items():
        assert directory.whose(ball, me) == whose
    assert directory.is_me("Codex@review (pat)", me)
    assert not directory.is_me("Codex@review", me)
    # In the main worktree there are none.
    assert directory.whose("Codex@review", me._replace(seat="")) == names.OTHERS
    assert str(me) == "Codex@pr-12 (pat)"


def test_who_is_in_the_cloud_by_their_seat() -> None:
    there = ["Codex@cloud", "Codex@cloud/session", "Codex @ Cloud/Session (Pat)"]
    elsewhere = ["Codex@cloud/sessions", "Codex@fix", "Codex", "cloud/session"]
    in_cloud = [name for name in there + elsewhere if names.is_in_cloud(parse(name))]
    assert in_cloud == there
