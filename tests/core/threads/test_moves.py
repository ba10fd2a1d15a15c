"""The rules of the ball: every move on every kind of thread."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from tests.core.strategies import entry_id
from wc_core.base.errors import ConflictError
from wc_core.base.names import SPELLINGS, Directory, parse
from wc_core.ledger.threads.counterparts import counterpart
from wc_core.ledger.threads.model import (
    CLOSED,
    FREE,
    OPEN,
    Ball,
    Participant,
    Pass,
    State,
)
from wc_core.ledger.threads.moves import Move, bounce_note, decide, unknown_parts
from wc_core.ledger.threads.proposals import Draft
from wc_core.ledger.threads.settings import Settings

ME = "Codex@fix (pat)"
OTHER = "Claude Code (pat)"
THIRD = "Cursor (sam)"
AT_OTHER = Ball(OTHER)

FREE_BALL = State("t", "T", entry_count=3, last_id=entry_id(3), asker=OTHER)
MINE = FREE_BALL._replace(ball=ME)
MINE_BY_MATCH = FREE_BALL._replace(ball="codex")
THEIRS = FREE_BALL._replace(ball=OTHER)
OVER = FREE_BALL._replace(status=CLOSED)
OVER_BUT_HELD = OVER._replace(ball=OTHER)
NOTHING = State("t")
PLAYED = (Participant(OTHER, 1), Participant(ME, 0))

WARN = Settings()
OFF = Settings(enforce="off")
REFUSE = Settings(enforce="refuse")


def draft(action: str, **fields: Any) -> Draft:
    return Draft(topic="t", action=action, title="title", **fields)


def move(
    state: State, action: str, rules: Settings = WARN, me: str = ME, **fields: Any
) -> Move:
    return decide(state, draft(action, **fields), parse(me), rules)


def refusal(
    state: State, action: str, rules: Settings = WARN, me: str = ME, **fields: Any
) -> ConflictError:
    with pytest.raises(ConflictError) as caught:
        move(state, action, rules, me, **fields)
    error = caught.value
    # Every command in a hint is about this thread, and a shell can read it.
    for command in error.hint.split("wc ")[1:]:
        assert shlex.split(command)[1].strip(",.") == "t"
    return error


# --- new ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "ball", "status"),
    [
        ({}, Ball(ME), OPEN),
        ({"to": "Cursor"}, Ball("Cursor"), OPEN),
        ({"to": "claude"}, Ball("Claude Code"), OPEN),
        ({"to": "claude@ui (sam)"}, Ball("Claude Code@ui (sam)"), OPEN),
        ({"to": "anyone"}, FREE, OPEN),
        ({"to": "Nobody"}, FREE, OPEN),
        ({"to": "-"}, FREE, OPEN),
        ({"to": "me"}, Ball(ME), OPEN),
        ({"status": "IN_REVIEW"}, Ball(ME), "IN_REVIEW"),
        ({"status": "CLOSED"}, FREE, CLOSED),
        ({"status": "CLOSED", "to": "Cursor"}, FREE, CLOSED),
    ],
)
def test_who_begins_a_thread_holds_it_unless_it_goes_to_another(
    fields: dict[str, Any], ball: Ball, status: str
) -> None:
    assert move(NOTHING, "new", **fields) == Move(ball, status)


# --- move --------------------------------------------------------------------


@pytest.mark.parametrize("rules", [WARN, OFF, REFUSE])
@pytest.mark.parametrize("me", [ME, OTHER, THIRD])
@pytest.mark.parametrize("state", [FREE_BALL, MINE, THEIRS, OVER, OVER_BUT_HELD])
def test_everyone_may_move_a_thread(state: State, me: str, rules: Settings) -> None:
    state = state._replace(branch="main")
    assert move(state, "move", rules, me, thread_branch="fix/ui") == Move()
    error = refusal(state, "move", rules, me, thread_branch="main")
    assert error.hint == "Nothing was written."
    assert "already belongs to the branch main" in error.message


# --- say ---------------------------------------------------------------------


@pytest.mark.parametrize("rules", [WARN, OFF, REFUSE])
@pytest.mark.parametrize("state", [FREE_BALL, MINE, MINE_BY_MATCH])
@pytest.mark.parametrize(
    ("fields", "ball", "status"),
    [
        ({}, AT_OTHER, None),
        ({"to": THIRD}, Ball(THIRD), None),
        ({"to": "anyone"}, FREE, None),
        ({"to": "me"}, Ball(ME), None),
        ({"status": "BLOCKED"}, AT_OTHER, "BLOCKED"),
        ({"status": "CLOSED"}, FREE, CLOSED),
        ({"reopen": True}, AT_OTHER, None),
    ],
)
def test_saying_passes_a_ball_that_is_mine_or_free(
    state: State, rules: Settings, fields: dict[str, Any], ball: Ball, status: str
) -> None:
    state = state._replace(participants=PLAYED)
    assert move(state, "say", rules, **fields) == Move(ball, status)


@pytest.mark.parametrize("rules", [WARN, OFF, REFUSE])
@pytest.mark.parametrize("state", [FREE_BALL, MINE, MINE_BY_MATCH])
@pytest.mark.parametrize("status", [None, "BLOCKED"])
def test_a_ball_that_can_go_to_no_one_stays(
    state: State, rules: Settings, status: str | None
) -> None:
    alone = state._replace(passes=(), participants=(Participant(ME, 0),), asker=ME)
    assert move(alone, "say", rules, status=status or "") == Move(None, status)
    assert move(alone, "say", rules, to="anyone") == Move(FREE, None)
    configured = rules._replace(counterparts={"*": ("Zed",)})
    assert move(alone, "say", configured) == Move(Ball("Zed (pat)"), None)


def test_a_ball_of_someone_else_stays_and_the_author_is_told_how_to_take_it() -> None:
    for to in ("", "me"):
        done = move(THEIRS, "say", to=to, status="IN_REVIEW")
        assert (done.ball, done.status) == (None, "IN_REVIEW")
        (note,) = done.notes
        assert OTHER in note
        assert "wc take t --reason" in note


def test_whom_a_ball_did_not_go_to_is_named_with_the_way_on() -> None:
    for to in (THIRD, "asker", "anyone"):
        (note,) = move(THEIRS._replace(asker=THIRD), "say", to=to).notes
        assert OTHER in note
        command = shlex.split(note.split("wc ", 1)[1])
        assert command == ["handoff", "t", "--to", to, "--reason", "…"]


def test_a_closed_thread_is_reopened_on_purpose_and_held_by_who_does() -> None:
    for state in (OVER, OVER_BUT_HELD):
        error = refusal(state, "say", status="OPEN")
        assert "wc say t --reopen" in error.hint
        fields: dict[str, Any] = {"reopen": True, "reason": "it is back"}
        for rules in (WARN, OFF, REFUSE):
            assert move(state, "say", rules, **fields) == Move(Ball(ME), OPEN)
        passed = move(state, "say", **fields, to=THIRD, status="BLOCKED")
        assert passed == Move(Ball(THIRD), "BLOCKED")
        assert move(state, "say", **fields, status="CLOSED") == Move(FREE, CLOSED)


# --- handoff -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "fields", "ball"),
    [
        (MINE, {"to": THIRD}, Ball(THIRD)),
        (MINE, {"to": "anyone"}, FREE),
        (MINE, {}, AT_OTHER),
        (MINE_BY_MATCH, {"to": THIRD}, Ball(THIRD)),
        (MINE_BY_MATCH, {"to": "me"}, Ball(ME)),
        (FREE_BALL, {"to": THIRD}, Ball(THIRD)),
        (FREE_BALL, {}, AT_OTHER),
        (THEIRS, {"to": THIRD, "reason": "away"}, Ball(THIRD)),
        (THEIRS, {"to": "me", "reason": "away"}, Ball(ME)),
        # Again to who has it, as the author's own word.
        (THEIRS, {"to": OTHER, "reason": "go on"}, AT_OTHER),
    ],
)
@pytest.mark.parametrize("rules", [WARN, OFF, REFUSE])
def test_a_ball_is_handed_on(
    state: State, fields: dict[str, Any], ball: Ball, rules: Settings
) -> None:
    state = state._replace(participants=PLAYED)
    assert move(state, "handoff", rules, **fields) == Move(ball)


@pytest.mark.parametrize(
    ("state", "fields", "hint"),
    [
        (THEIRS, {"to": THIRD}, "wc handoff t --to 'Cursor (sam)' --reason '…'"),
        (THEIRS, {"to": "O'Brien(x)"}, "wc handoff t --to 'O'\"'\"'Brien(x)' --reason"),
        (THEIRS, {}, "wc handoff t --to NAME --reason"),
        (MINE, {"to": "me"}, "wc handoff t --to NAME"),
        (THEIRS, {"to": OTHER}, "wc handoff t --to 'Claude Code (pat)' --reason"),
        (FREE_BALL, {"to": "anyone"}, "wc handoff t --to NAME"),
        (FREE_BALL._replace(asker=ME), {}, "wc handoff t --to NAME"),
        (OVER, {"to": THIRD}, "wc say t --reopen"),
        (OVER_BUT_HELD, {"to": THIRD, "reason": "x"}, "wc say t --reopen"),
    ],
)
def test_a_ball_is_not_handed_on(
    state: State, fields: dict[str, Any], hint: str
) -> None:
    assert hint in refusal(state, "handoff", **fields).hint


# --- take --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "fields", "hint"),
    [
        (THEIRS, {}, "wc take t --reason"),
        (MINE, {}, "wc say t -m"),
        (MINE, {"reason": "x"}, "wc say t -m"),
        (OVER, {}, "wc say t --reopen"),
        (OVER_BUT_HELD, {"reason": "x"}, "wc say t --reopen"),
    ],
)
def test_a_ball_is_not_taken(state: State, fields: dict[str, Any], hint: str) -> None:
    assert hint in refusal(state, "take", **fields).hint


# --- set-status --------------------------------------------------------------


def test_set_status_passes_the_ball_as_say_does() -> None:
    review: dict[str, Any] = {"status": "IN_REVIEW", "to": THIRD}
    for state in (MINE, FREE_BALL):
        assert move(state, "set_status", **review) == Move(Ball(THIRD), "IN_REVIEW")
    theirs = move(THEIRS, "set_status", **review)
    assert (theirs.ball, theirs.status) == (None, "IN_REVIEW")
    assert f"did not go to {THIRD}" in theirs.notes[0]
    assert refusal(THEIRS, "set_status", REFUSE, **review)
    over = move(OVER, "set_status", status="OPEN", to=THIRD, reason="again")
    assert over == Move(Ball(THIRD), "OPEN")
    closed = move(MINE, "set_status", status="CLOSED", to=THIRD, reason="x")
    assert closed == Move(FREE, CLOSED)


# --- conditions --------------------------------------------------------------


@pytest.mark.parametrize("action", ["say", "ack", "handoff", "take", "set_status"])
@pytest.mark.parametrize(
    ("state", "condition", "holds"),
    [
        (MINE, {"if_ball": "me"}, True),
        (MINE, {"if_ball": "ME"}, True),
        (MINE, {"if_ball": "codex"}, True),
        (MINE, {"if_ball": "Codex@other"}, False),
        (MINE, {"if_ball": "anyone"}, False),
        (MINE_BY_MATCH, {"if_ball": "me"}, True),
        (MINE_BY_MATCH, {"if_ball": ME}, False),
        (THEIRS, {"if_ball": "me"}, False),
        (THEIRS, {"if_ball": "Claude (pat)"}, True),
        (THEIRS, {"if_ball": "Claude (sam)"}, False),
        (THEIRS, {"if_ball": "asker"}, True),
        (MINE, {"if_ball": "asker"}, False),
        (FREE_BALL, {"if_ball": "anyone"}, True),
        (FREE_BALL, {"if_ball": "nobody"}, True),
        (FREE_BALL, {"if_ball": "me"}, False),
        (FREE_BALL, {"if_ball": "Codex"}, False),
        (MINE, {"if_last": entry_id(3)}, True),
        (MINE, {"if_last": entry_id(2)}, False),
        (NOTHING, {"if_last": entry_id(2)}, False),
        (MINE, {"if_ball": "me", "if_last": entry_id(2)}, False),
        (THEIRS, {"if_ball": "me", "if_last": entry_id(3)}, False),
    ],
)
def test_any_write_can_be_conditional(
    state: State, action: str, condition: dict[str, Any], *, holds: bool
) -> None:
    fields = {"to": THIRD, "reason": "why", "status": "BLOCKED"} | condition
    if holds and not (action == "take" and state is MINE):
        move(state, action, **fields)
    else:
        error = refusal(state, action, **fields)
        assert holds or "wc read t" in error.hint


REFUSALS = [
    (FREE_BALL, "new", {}, "There is already a thread t: 'T'."),
    (OVER, "say", {}, "t is closed."),
    (OVER, "handoff", {}, "t is closed."),
    (OVER, "take", {}, "t is closed."),
    (
        *(THEIRS, "say", {}),
        f"{OTHER} has the ball of t, and only the holder may write here.",
    ),
    (THEIRS, "handoff", {}, f"{OTHER} has the ball of t, not you."),
    (FREE_BALL, "handoff", {"to": "anyone"}, "The ball of t is already free."),
    (MINE, "handoff", {"to": "me"}, f"The ball of t is already with {ME}."),
    (MINE, "take", {}, "You already have the ball of t."),
    (THEIRS, "take", {}, f"{OTHER} has the ball of t."),
    (MINE, "set_status", {"status": "OPEN"}, "t is already OPEN."),
    (
        *(NOTHING, "say", {"if_last": "x"}),
        "t has moved on: its last entry is none, not x.",
    ),
    (THEIRS, "say", {"if_ball": "me"}, f"{OTHER} has the ball of t, not you."),
]


@pytest.mark.parametrize(("state", "action", "fields", "message"), REFUSALS)
def test_a_refusal_says_why(
    state: State, action: str, fields: dict[str, Any], message: str
) -> None:
    assert refusal(state, action, REFUSE, **fields).message == message


# --- the counterpart ---------------------------------------------------------


PASSED = FREE_BALL._replace(
    participants=(Participant(OTHER, 0), Participant(THIRD, 0), Participant(ME, 0)),
    passes=(Pass(ME, OTHER), Pass(THIRD, ME)),
)
RENAMED = PASSED._replace(names=("middle", "new"))
GLOBAL = {"codex": ("Gemini CLI",)}
TOPIC = {"t": {"codex": ("Zed",)}}


@pytest.mark.parametrize(
    ("state", "rules", "expected"),
    [
        (FREE_BALL, {}, None),
        (FREE_BALL._replace(participants=(Participant(ME, 0),)), {}, None),
        (FREE_BALL._replace(participants=(Participant("", 0),)), {}, None),
        # The last other participant, …
        (PASSED._replace(passes=()), {}, THIRD),
        (PASSED._replace(passes=(Pass(THIRD, OTHER),)), {}, THIRD),
        # … unless someone passed it to me, …
        (PASSED, {}, OTHER),
        (PASSED._replace(passes=(Pass("codex", THIRD), Pass(ME, OTHER))), {}, OTHER),
        (PASSED._replace(passes=(Pass(ME, OTHER), Pass("codex", THIRD))), {}, THIRD),
        (PASSED._replace(passes=(Pass(ME, OTHER), Pass("Codex", ME))), {}, OTHER),
        (PASSED._replace(passes=(Pass("Codex (sam)", OTHER),)), {}, THIRD),
        # … unless it is configured, for the topic before for all.
        (PASSED, {"counterparts": GLOBAL}, "Gemini CLI (pat)"),
        (PASSED, {"topic_counterparts": TOPIC}, "Zed (pat)"),
        (PASSED, {"counterparts": GLOBAL, "topic_counterparts": TOPIC}, "Zed (pat)"),
        (PASSED, {"topic_counterparts": {"other": {"codex": ("Zed",)}}}, OTHER),
        # A renamed thread has those of all its names, its latest first.
        (RENAMED, {"topic_counterparts": TOPIC}, "Zed (pat)"),
        (RENAMED, {"topic_counterparts": {"new": {"codex": ("A",)}}}, "A"),
        (RENAMED, {"topic_counterparts": {**TOPIC, "new": {"codex": ("A",)}}}, "A"),
        # A topic of older versions may have capital letters.
        (PASSED._replace(topic="T"), {"topic_counterparts": TOPIC}, "Zed (pat)"),
        (PASSED, {"counterparts": {"cursor": ("Zed",)}}, OTHER),
        # The fullest name of mine decides.
        (
            PASSED,
            {"counterparts": {"codex": ("Zed",), "codex@fix": ("Cursor",)}},
            "Cursor (pat)",
        ),
        (
            PASSED,
            {"counterparts": {"codex@fix(pat)": ("A",), "codex@fix": ("B",)}},
            "A",
        ),
        (PASSED, {"counterparts": {"codex@other": ("Zed",)}}, OTHER),
        # Of a list the first that is someone else; if there is none, it is
        # as if nothing were configured.
        (PASSED, {"counterparts": {"codex": ("Codex", "Zed")}}, "Zed (pat)"),
        (PASSED, {"counterparts": {"codex": ("Codex",)}}, OTHER),
        (
            PASSED,
            {"counterparts": GLOBAL, "topic_counterparts": {"t": {"codex": ()}}},
            "Gemini CLI (pat)",
        ),
        # Aliases on both sides, and aliases of aliases.
        (PASSED, {"counterparts": {"codex-cli": ("claude",)}}, OTHER),
        (PASSED, {"counterparts": {"cc": ("cc", "cx", "zz")}}, "Zed (pat)"),
        (PASSED, {"counterparts": {"codex": ("zz@ui (sam)",)}}, "Zed@ui (sam)"),
    ],
)  # fmt: skip
def test_who_has_the_next_move_when_nobody_is_named(
    state: State, rules: dict[str, Any], expected: str | None
) -> None:
    aliases = {"cc": "cx", "cx": "codex-cli", "zz": "zed"}
    settings = Settings(directory=Directory(SPELLINGS | aliases), **rules)
    assert counterpart(state, parse(ME), settings) == Ball(expected)


def test_a_configured_counterpart_is_an_agent_of_the_same_user_or_a_person() -> None:
    settings = Settings(counterparts={"pat": ("claude",), "codex": ("Sam",)})
    assert counterpart(NOTHING, parse("Pat"), settings) == Ball("Claude Code (Pat)")
    assert counterpart(NOTHING, parse(ME), settings) == Ball("Sam")


# --- three parties -----------------------------------------------------------

PAT = "Pat"
ASKED = State(
    "t",
    "T",
    ball=ME,
    asker=PAT,
    entry_count=4,
    last_id=entry_id(3),
    participants=tuple(Participant(name, 0) for name in (PAT, THIRD, OTHER, ME)),
    passes=(Pass(OTHER, PAT), Pass(ME, OTHER)),
)


def test_the_ball_of_finished_work_goes_to_who_asked_for_it() -> None:
    assert move(ASKED, "done") == Move(Ball(PAT))
    assert move(ASKED, "done", status="IN_REVIEW") == Move(Ball(PAT), "IN_REVIEW")
    assert move(ASKED, "done", to=THIRD) == Move(Ball(THIRD))
    for action in ("say", "handoff"):
        assert move(ASKED, action, to="Asker") == Move(Ball(PAT))


@pytest.mark.parametrize("ball", [None, PAT, ME])
def test_who_asked_closes_the_thread_by_saying_that_it_is_done(
    ball: str | None,
) -> None:
    for rules in (WARN, OFF, REFUSE):
        state = ASKED._replace(ball=ball)
        assert move(state, "done", rules, me="pat") == Move(FREE, CLOSED)


def test_work_that_is_done_out_of_turn_leaves_the_ball() -> None:
    done = move(ASKED, "done", me=THIRD)
    assert done.ball is None
    assert f"stays with {ME}" in done.notes[0]
    assert "wc handoff t --to asker --reason" in done.notes[0]


@pytest.mark.parametrize(
    ("action", "to"), [("say", ME), ("say", ME.upper()), ("done", ""), ("say", "asker")]
)
def test_a_ball_that_is_there_already_needs_no_handoff(action: str, to: str) -> None:
    state = ASKED._replace(asker=ME)
    assert move(state, action, to=to, me=THIRD).notes == (f"{ME} already has the ball",)


def test_a_thread_that_nobody_is_known_to_have_asked_for_is_closed_when_done() -> None:
    unknown = ASKED._replace(asker="")
    assert move(unknown, "done") == Move(FREE, CLOSED)
    error = refusal(unknown, "say", to="asker")
    assert error.message == "It is not known who asked for t."
    assert error.hint == "Name who should have it: wc handoff t --to NAME"


@pytest.mark.parametrize(
    ("state", "status", "command"),
    [
        (THEIRS, CLOSED, "close it: wc close t --reason '…'"),
        (OVER_BUT_HELD, OPEN, "reopen it: wc set-status t OPEN --reason '…'"),
    ],
)
def test_a_ball_of_someone_else_is_a_reason_to_ask_why(
    state: State, status: str, command: str
) -> None:
    error = refusal(state, "set_status", me=THIRD, status=status)
    if state is OVER_BUT_HELD:
        said = refusal(state, "say", me=THIRD, reopen=True)
        assert (said.message, said.hint) == (error.message, error.hint)
    assert error.message == f"{OTHER} has the ball of t."
    assert error.hint == f"If it is stuck there, say why you {command}"


def test_a_ball_that_passes_by_who_asked_for_it_is_noticed() -> None:
    (note,) = move(ASKED, "say").notes
    assert note == "Pat asked for this; when it is done: wc done t"
    silent = [
        move(ASKED, "say", to=OTHER),
        move(ASKED._replace(passes=(Pass(ME, PAT),)), "say"),
        move(ASKED._replace(ball=PAT), "say", me=PAT),
        move(ASKED._replace(participants=ASKED.participants[:1], passes=()), "say"),
    ]
    assert not any(quiet.notes for quiet in silent)
    # Three of them, the author included, are enough, and two are not.
    three = ASKED._replace(participants=PLAYED, passes=(Pass(ME, OTHER),))
    assert not move(three, "say").notes
    (note,) = move(three, "say", me=THIRD, rules=OFF).notes
    assert note == "Pat asked for this; when it is done: wc done t"


def test_a_ball_that_was_taken_goes_back_to_whom_it_was_taken_from() -> None:
    passes = (Pass(PAT, OTHER), Pass(OTHER, PAT), Pass(PAT, ME))
    taken = ASKED._replace(ball=PAT, passes=passes)
    assert move(taken, "say", me=PAT) == Move(Ball(ME))


@pytest.mark.parametrize(
    ("me", "passes", "holder"),
    [
        (ME, (), PAT),
        (THIRD, (Pass(THIRD, OTHER),), PAT),
        (PAT, (), None),
        (PAT, (Pass(PAT, OTHER),), OTHER),
    ],
)
def test_a_free_ball_never_goes_to_a_bystander(
    me: str, passes: tuple[Pass, ...], holder: str | None
) -> None:
    state = ASKED._replace(ball=None, passes=passes)
    # A free ball that can go to no one stays free.
    ball = None if holder is None else Ball(holder)
    assert move(state, "say", me=me).ball == ball
    if holder:
        assert move(state, "handoff", me=me).ball == ball


def test_a_holder_is_spelled_as_in_the_thread() -> None:
    assert move(ASKED, "say", to="pAT") == Move(Ball(PAT))
    assert move(ASKED, "say", to="codex @FIX (Pat)", me=ME) == Move(Ball(ME))
    claude = ASKED._replace(participants=(Participant("claude code (PAT)", 0),))
    found = move(claude._replace(passes=()), "say", to="claude (pat)")
    assert found.ball == Ball("Claude Code (PAT)")
    assert move(ASKED, "say", to="Sam") == Move(Ball("Sam"))


def test_a_ball_that_bounces_is_noticed_once() -> None:
    for bounces in range(12):
        state = ASKED._replace(bounces=bounces)
        note = bounce_note(state, WARN)
        assert bool(note) == (bounces == WARN.bounces)
    settings = Settings(bounces=3)
    note = bounce_note(ASKED._replace(bounces=3), settings)
    assert "3 times" in note
    assert ME in note
    assert OTHER in note
    assert "wc done t" in note
    assert "wc handoff t --to NAME" in note
    longer = ASKED._replace(bounces=3, passes=(*ASKED.passes, Pass(THIRD, ME)))
    assert f"between {ME} and {THIRD};" in bounce_note(longer, settings)


# --- who may do what: every command, every role, every policy ----------------

# What happens to a ball that ME holds if the holder, the asker, a participant or a
# stranger does this: it goes on (pass), to the author (mine), to nobody (free), or
# stays; or the command is refused.
ROLES = {"holder": ME, "asker": PAT, "participant": OTHER, "stranger": THIRD}
_REASON = {"reason": "away"}
_CLOSE, _CLOSE_WHY = {"status": "CLOSED"}, {"status": "CLOSED", "reason": "merged"}
POLICIES = {"every": ("off", "warn", "refuse")}
OUTCOMES: list[tuple[str, dict[str, Any], str, str]] = [
    ("say", {}, "warn", "pass stay stay stay"),
    ("say", {}, "refuse", "pass refused refused refused"),
    ("say", {}, "off", "pass pass pass pass"),
    ("say", {"to": "Zed"}, "warn", "pass stay stay stay"),
    ("say", {"to": "Zed"}, "refuse", "pass refused refused refused"),
    ("say", {"to": "Zed"}, "off", "pass pass pass pass"),
    ("say", _CLOSE, "every", "free free refused refused"),
    ("say", _CLOSE_WHY, "every", "free free free free"),
    ("say", _REASON, "refuse", "pass refused refused refused"),
    ("done", {}, "warn", "pass free stay stay"),
    ("done", {}, "refuse", "pass free refused refused"),
    ("done", {}, "off", "pass free pass pass"),
    ("done", _CLOSE, "every", "free free refused refused"),
    ("ack", {}, "every", "stay stay stay stay"),
    ("handoff", {"to": "Zed"}, "every", "pass refused refused refused"),
    ("handoff", {"to": "Zed"} | _REASON, "every", "pass pass pass pass"),
    ("take", {}, "every", "refused refused refused refused"),
    ("take", _REASON, "every", "refused mine mine mine"),
    ("set_status", {"status": "BLOCKED"}, "every", "stay stay stay stay"),
    ("set_status", _CLOSE, "every", "free free refused refused"),
    ("set_status", _CLOSE_WHY, "every", "free free free free"),
    ("new", {}, "every", "refused refused refused refused"),
]


@pytest.mark.parametrize(
    ("action", "fields", "policy", "role", "outcome"),
    [
        (action, fields, policy, role, outcome)
        for action, fields, policies, outcomes in OUTCOMES
        for policy in POLICIES.get(policies, (policies,))
        for role, outcome in zip(ROLES, outcomes.split(), strict=True)
    ],
)
def test_nobody_goes_round_the_holder(
    action: str, fields: dict[str, Any], policy: str, role: str, outcome: str
) -> None:
    rules, author = Settings(enforce=policy), ROLES[role]
    if outcome == "refused":
        error = refusal(ASKED, action, rules, me=author, **fields)
        assert "wc " in error.hint
        return
    done = move(ASKED, action, rules, me=author, **fields)
    if outcome == "stay":
        assert done.ball is None
    elif outcome == "free":
        assert done == Move(FREE, CLOSED)
    else:
        assert done.ball is not None
        assert done.ball.holder not in {None, ME} or policy == "off"
        assert (done.ball.holder == author) == (outcome == "mine")


@pytest.mark.parametrize("policy", ["off", "warn", "refuse"])
@pytest.mark.parametrize(("action", "fields"), [
    ("say", {"reopen": True}),
    ("set_status", {"status": "OPEN"}),
])  # fmt: skip
def test_nobody_reopens_a_thread_round_its_holder(
    action: str, fields: dict[str, Any], policy: str
) -> None:
    rules, held = Settings(enforce=policy), ASKED._replace(status=CLOSED)
    for author in (OTHER, THIRD):
        error = refusal(held, action, rules, me=author, **fields)
        assert "say why you reopen it" in error.hint
        assert move(held, action, rules, author, **fields, reason="it is back").status
    for author in (ME, PAT):
        assert move(held, action, rules, author, **fields).status == OPEN


# --- names nobody has --------------------------------------------------------


KNOWN = ["Codex@fix (pat)", "Claude Code (sam)"]


@pytest.mark.parametrize(
    ("to", "unknown"),
    [
        ("", []),
        ("anyone", []),
        ("ME", []),
        ("codex", []),
        ("claude", []),
        ("codex-cli@FIX", []),
        ("Codex (sam)", []),
        ("Codxe", ["agent"]),
        ("Codex@fxi", ["seat"]),
        ("Codex (tap)", ["tag"]),
        ("Codxe@fxi (tap)", ["agent", "seat", "tag"]),
    ],
)
def test_the_parts_of_a_name_that_nobody_has_are_named(
    to: str, unknown: list[str]
) -> None:
    assert unknown_parts(to, KNOWN, WARN) == unknown
