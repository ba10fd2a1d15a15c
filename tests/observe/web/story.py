"""A repository with a week of work: what the pictures of the pages show.

Threads are written as they are stored, with times relative to now; worktrees, claims
and the radar are made by the real commands.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wc_core.base import ulid
from wc_core.base.layout import Layout
from wc_core.base.times import rfc3339
from wc_core.ledger.git import discovery
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.linerefs import LineRef
from wc_core.ledger.threads.model import FREE, Ball, Entry, Link

if TYPE_CHECKING:
    from collections.abc import Iterable

PAT, ALEX, SAM = "Pat", "Alex", "Sam"
CLAUDE, LOGIN = "Claude Code (pat)", "Claude Code@login (pat)"
CODEX, REVIEW = "Codex (pat)", "Codex@review (pat)"
GEMINI = "Gemini CLI@docs (alex)"
WC = (sys.executable, "-m", "wc_cli")
HOUR = 60

_PLAN = """\
The session cookie is set **before** the challenge is checked, so a replayed
assertion gets one.

- [ ] check the challenge first
- [x] rotate the session id

```python
def finish(request: Request, store: ChallengeStore) -> Response:
    # Consume the challenge first: it works once.
    challenge = store.consume(request.session["challenge"])
    if challenge is None:
        raise Expired("the challenge was used or is too old")
    user = verify(request.json(), challenge, origin=settings.ORIGIN, timeout=30.0)
    return signed_in(user, rotate=True)
```

`verify` is in `src/auth/webauthn.py`; see #41.
"""
_REVIEW = """\
Two things before this can go in:

1. `store.consume` must be atomic. With two workers both read the challenge.
2. There's no test for a *second* passkey.

```sql
DELETE FROM challenge WHERE id = $1 AND used_at IS NULL RETURNING value;
```

| case | expected | got |
|---|---|---|
| replayed assertion | 401 | 200 |
| expired challenge | 401 | 401 |
| other origin, such as `https://login.example.com.attacker.example` | 401 | 401 |

> A challenge that was used is as good as none.
"""
_LONG = "src/billing/providers/stripe/webhooks/handlers/subscription_updated_handler.py"

_CURL = (
    "curl -sS -X POST -H 'Authorization: Bearer …' "
    "https://api.example.com/v1/hooks/replay?from=2026-01-01T00:00:00Z\\&to=2026-02-01"
)
_QUOTED = LineRef("src/auth/webauthn.py", 41, 42).quoting(
    [f"line {number}" for number in range(1, 39)]
    + [
        "def finish(request, store):",
        "    challenge = store.peek(request)",
        "    user = verify(request, challenge)",
        "    store.consume(challenge)",
        "    return signed_in(user)",
    ]
)

# A thread: topic and title; for each entry minutes ago, author, where the ball went
# ("": nowhere, "anyone": free), title, and other fields.
_Move = tuple[int, str, str, str, dict[str, Any]]
STORY: dict[tuple[str, str], list[_Move]] = {
    ("login", "Log in with a passkey"): [
        (150 * HOUR, PAT, CLAUDE, "Passkeys, please", {"role": "pm"}),
        (120 * HOUR, CLAUDE, REVIEW, "Challenge and assertion work", {"body": _PLAN}),
        (
            95 * HOUR,
            REVIEW,
            CLAUDE,
            "Replay gets a session",
            {"body": _REVIEW, "role": "critic", "kind": "defect", "severity": "high"},
        ),
        (
            70 * HOUR,
            CLAUDE,
            REVIEW,
            "Challenge is consumed first",
            {
                "items_added": ("atomic consume", "second passkey", "docs", "metrics"),
                "file_refs": ("src/auth/webauthn.py",),
                "pr_refs": (41,),
            },
        ),
        (
            30 * HOUR,
            REVIEW,
            LOGIN,
            "One test is missing",
            {"tags_added": ("auth",), "line_refs": (_QUOTED,)},
        ),
        (
            26 * HOUR,
            LOGIN,
            "",
            "We keep one table for all keys",
            {"type": "Decision", "kind": "decision"},
        ),
        (
            3 * HOUR,
            LOGIN,
            PAT,
            "Tests for a second passkey",
            {
                "status": "IN_REVIEW",
                "body": "All green here.\n",
                "items_checked": (1, 2),
                "code_branch": "fix/login",
                "code_commit": "4f2c9a1d",
            },
        ),
        (
            18,
            REVIEW,
            "",
            "Looks good to me",
            {
                "role": "critic",
                "outcome": "approved",
                "body": "The race is gone. `pytest -k passkey` passes 200 times.\n",
            },
        ),
    ],
    ("rounding", "Round half up or half to even?"): [
        (
            40 * HOUR,
            CODEX,
            PAT,
            "Which one do invoices use?",
            {"tags_added": ("money",)},
        ),
        (29 * HOUR, PAT, CODEX, "Half up, as the law says", {}),
        (26 * HOUR, CODEX, CLAUDE, "Then three tests are wrong", {}),
        (
            40,
            CLAUDE,
            PAT,
            "Fixed two of them; the third one is a judgement call",
            {"body": "The third compares totals. Do we round lines or the sum?\n"},
        ),
    ],
    ("schema", "Two columns for the key, or one table?"): [
        (61 * HOUR, CODEX, ALEX, "Needs a decision", {}),
        (
            60 * HOUR,
            ALEX,
            PAT,
            "Blocked until the DBA is back",
            {"status": "BLOCKED", "reason": "the DBA is away until Thursday"},
        ),
    ],
    ("invoices-2027", "Invoices for next year"): [
        (200 * HOUR, PAT, "", "Collected what changes", {}),
        (190 * HOUR, ALEX, PAT, "VAT rates are in the wiki", {}),
    ],
    ("retries", "Three tries, then what?"): [
        (48 * HOUR, CLAUDE, CODEX, "Backoff is in", {}),
        (9 * HOUR, CODEX, CLAUDE, "Jitter, or all clients come back at once", {}),
    ],
    ("flaky-ci", "It fails one time in forty"): [
        (55 * HOUR, PAT, "anyone", "Anyone?", {"tags_added": ("ci",)}),
        (33 * HOUR, CLAUDE, CLAUDE, "I'll look", {}),
        (31 * HOUR, CLAUDE, "anyone", "Not reproducible with 500 runs", {}),
    ],
    ("rate-limit", "Which calls count?"): [
        (28 * HOUR, CODEX, LOGIN, "Reads too?", {}),
        (
            7 * HOUR,
            LOGIN,
            "",
            "Counting in Redis, 3 of 5 endpoints",
            {"items_added": ("login", "search", "export", "import", "hooks")},
        ),
        (6 * HOUR, LOGIN, "", "Progress", {"items_checked": (1, 2, 3)}),
    ],
    ("backup-keys", "A second passkey, for a lost phone"): [
        (
            22 * HOUR,
            CLAUDE,
            REVIEW,
            "Ready for a look",
            {"links_added": (Link("blocked_by", "login"),), "tags_added": ("auth",)},
        ),
    ],
    ("old-sessions", "Sign everyone out?"): [
        (36 * HOUR, PAT, ALEX, "After the fix, I mean", {}),
        (34 * HOUR, ALEX, PAT, "Only sessions older than the fix", {}),
        (15 * HOUR, PAT, ALEX, "Can you write the mail?", {}),
    ],
    ("release-notes", "What do we say about the store?"): [
        (12 * HOUR, PAT, "anyone", "Two sentences are enough", {}),
    ],
    ("api-errors", "Codes before words"): [
        (64 * HOUR, ALEX, CODEX, "Each error needs a code", {}),
        (40 * HOUR, CODEX, ALEX, "42 errors have one", {"status": "IN_REVIEW"}),
    ],
    ("docs-search", "The search box finds old versions"): [
        (16 * HOUR, ALEX, GEMINI, "Only the latest, please", {}),
        (2 * HOUR, GEMINI, "", "Index is rebuilt with a version field", {}),
    ],
    ("webhooks", "Retry failed webhooks, oldest first"): [
        (
            20 * HOUR,
            PAT,
            CODEX,
            "See the handler",
            {
                "file_refs": (_LONG,),
                "body": f"It is in `{_LONG}`.\n\n```sh\n{_CURL}\n```\n",
            },
        ),
        (11 * HOUR, CODEX, "", "Reproduced with a recorded event", {}),
    ],
    ("csv-export", "Semicolons for Excel"): [
        (90 * HOUR, SAM, CODEX, "Customers ask for it", {}),
        (75 * HOUR, CODEX, "", "Option is in, docs are missing", {}),
    ],
    ("dark-mode", "Colours for dark screens"): [
        (68 * HOUR, PAT, CLAUDE, "Please", {}),
        (58 * HOUR, CLAUDE, PAT, "Done", {}),
        (57 * HOUR, PAT, "anyone", "Thanks", {"status": "CLOSED"}),
    ],
}


def write(root: str, story: dict[tuple[str, str], list[_Move]]) -> None:
    """Write threads into the store at ``root``."""
    now_ms = time.time_ns() // 1_000_000
    layout = Layout(root)
    for (topic, title), moves in story.items():
        entries: list[Entry] = []
        for move in moves:
            entries.append(_entry(topic, move, entries, now_ms))
        entries[0] = entries[0]._replace(title=title)
        os.makedirs(layout.folder(topic))
        lines = [codec.to_line(entry, idx) for idx, entry in enumerate(entries)]
        Path(layout.log(topic)).write_bytes(b"".join(lines))


def _entry(topic: str, move: _Move, before: list[Entry], now_ms: int) -> Entry:
    minutes, agent, to, title, fields = move
    moment = now_ms - minutes * 60_000
    added = next((entry for entry in reversed(before) if entry.items_added), None)
    checked = (
        tuple(f"{added.id}.{n}" for n in fields.get("items_checked", ()))
        if added
        else ()
    )
    ball = FREE if to == "anyone" else Ball(to)
    entry = Entry(
        ulid.encode(moment << ulid.RANDOM_BITS | len(before)),
        topic,
        agent,
        rfc3339(moment),
        title,
        action="say",
        ball=ball if to else None,
        parents=tuple(entry.id for entry in before[-1:]),
    )
    return entry._replace(**(fields | {"items_checked": checked}))


def build(folder: Path) -> tuple[Path, dict[str, str]]:
    """Make the repository and two others; returns the folder to serve from, and the
    environment."""
    home = folder / "home"
    home.mkdir(parents=True)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "WATERCOOLER_USER": PAT,
        "WATERCOOLER_AGENT": PAT,
        "WATERCOOLER_SYNC": "off",
        "WATERCOOLER_MEANING": "off",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": PAT for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "pat@example.com" for who in ("AUTHOR", "COMMITTER")},
    }
    shop = folder / "shop"
    for name, story in (
        ("shop", STORY),
        ("website", _cut(("docs-search", "rounding", "dark-mode"))),
        ("infra", _cut(("flaky-ci", "schema"))),
    ):
        path = folder / name
        _run(folder, env, "git", "init", "-q", "-b", "main", str(path))
        (path / "auth.py").write_text("".join(f"line_{n} = {n}\n" for n in range(30)))
        _run(path, env, "git", "add", ".")
        _run(path, env, "git", "commit", "-qm", "Start")
        _run(path, env, *WC, "init")
        write(discovery.find(str(path), env).root, story)
    for seat, number in (("login", 1), ("review", 2)):
        tree = folder / f"shop-wt-{seat}"
        _run(shop, env, "git", "worktree", "add", "-q", "-b", f"fix/{seat}", str(tree))
        lines = (
            (tree / "auth.py").read_text().replace("line_3 = 3", f"line_3 = 3{number}")
        )
        (tree / "auth.py").write_text(lines)
    own = {"login": "Claude Code", "review": "Codex"}
    for seat, agent in own.items():
        tree = folder / f"shop-wt-{seat}"
        words = (
            "claim",
            f"src/{seat}.py",
            "-m",
            f"New form of {seat}",
            "--thread",
            "login",
        )
        _run(tree, env | {"WATERCOOLER_AGENT": agent}, *WC, *words)
    _run(shop, env, *WC, "radar")
    return shop, env


def _cut(topics: Iterable[str]) -> dict[tuple[str, str], list[_Move]]:
    return {key: moves for key, moves in STORY.items() if key[0] in topics}


def _run(folder: Path, env: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout
