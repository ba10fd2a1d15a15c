"""What one commit contains, decided from values: no git, no disk."""

from __future__ import annotations

from wc_cli.ledger.branch.commits import CommitChange, Committed, blob_id
from wc_cli.ledger.branch.compare import Compared
from wc_cli.ledger.settle.committer import CommitPlan, RenderedThread, plan_commit
from wc_core.ledger.threads.model import Entry

SHARED = CommitChange(".gitignore", b"/.local/\n")
ENTRY = Entry("01M8", "auth", "Codex", "2026-01-01T00:00:00Z")


def thread(topic: str, *contents: bytes) -> RenderedThread:
    files = (
        CommitChange(f"{topic}/{number}", data) for number, data in enumerate(contents)
    )
    return RenderedThread(topic, 10, tuple(files))


def on_branch(*files: CommitChange) -> dict[str, Committed]:
    return {
        file.path: Committed(blob_id(file.data or b"", "0" * 40), len(file.data or b""))
        for file in files
    }


def test_only_files_that_differ_are_committed() -> None:
    auth = thread("auth", b"log", b"page")
    plan = plan_commit(
        [SHARED],
        [auth],
        on_branch(SHARED, auth.files[1]),
        {"auth": Compared((ENTRY,))},
    )
    assert plan == CommitPlan(auth.files[:1], (("auth", ENTRY),), ("auth",), {})


def test_a_log_that_lost_entries_is_not_committed_and_stops_no_other() -> None:
    auth, billing = thread("auth", b"short"), thread("billing", b"log")
    comparisons = {"auth": Compared((ENTRY,), 2), "billing": Compared(())}
    plan = plan_commit([], [auth, billing], {}, comparisons)
    assert plan.changes == billing.files
    assert plan.entries == ()
    assert plan.topics == ("billing",)
    assert plan.problems == {
        "auth": "not committed: auth/0 lacks 2 entries that the branch has"
    }


def test_a_thread_of_another_tool_is_complete_without_files() -> None:
    plan = plan_commit([], [thread("auth")], {}, {})
    assert plan == CommitPlan((), (), ("auth",), {})


def test_nothing_is_committed_if_the_branch_has_everything() -> None:
    auth = thread("auth", b"log")
    committed = on_branch(SHARED, *auth.files)
    plan = plan_commit([SHARED], [auth], committed, {"auth": Compared(())})
    assert plan == CommitPlan((), (), ("auth",), {})
