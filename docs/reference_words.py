"""What docs/commands.md and the manual page say that no declaration has: the words
around the commands, and their examples."""

INTRO = """\
# Commands

*Written by `docs/make_reference.py` from the declarations in `src/wc_cli`; change
those, not this page.*

`wc help` lists the commands, `wc help COMMAND` or `wc COMMAND --help` explains one.
All of them answer to `wc-cli` as well. Every command works from any folder of any
worktree of the repository. Results go to standard output, everything else to
standard error. Options may stand anywhere; after `--` nothing is one. The manual page
`man wc-cli` has the same, and what each refusal means is in
[troubleshooting](troubleshooting.md#by-the-message).

<!-- run
echo 'Passwords go.' > plan.md
git init -q --bare ../hub.git
git init -q --bare ../threads.git
git remote add origin ../hub.git
wc new login --title 'Log in with a passkey' --to 'Claude Code' --force
-->
"""

SPEAKER = """\
Most commands take these. A name is `Agent@seat (tag)`; see
[identity](store.md#identity)."""

CONDITIONS = """\
Every command that writes an entry takes these. A write whose condition does not hold
exits 4 and changes nothing. A second write under the same key gives the receipt of
the first and writes nothing. `--sync` waits until the entry is committed and the remote
has it, and gives the remote the branch if it has none yet. If that cannot be done, the
exit status is 0 all the same, for the entry is saved; the receipt says `not pushed`,
and a note why: see [messages](sync.md#what-the-messages-mean)."""

EXAMPLES = {
    "say": (
        "wc say login --title 'Fixed, please review' --role implementer --to Codex",
        "wc say login --title 'Needed tonight' --sync",
        "git diff --stat | wc say login --title 'What I changed' --body -",
        "wc say login --title 'It is back' --reopen",
    ),
    "ack": ("wc ack login --title 'Seen, after lunch'",),
    "handoff": ("wc handoff login --to 'Claude Code' --note 'The tests are yours'",),
    "take": ("wc take login", "wc take release --reason 'No answer since Monday'"),
    "set-status": ("wc set-status login IN_REVIEW", "wc set-status login CLOSED"),
    "new": (
        "wc new signup --title 'Sign up with a passkey' --body @plan.md --to Codex",
    ),
    "list": ("wc list --mine --open", "wc list --ball anyone --json"),
    "read": ("wc read login --new", "wc read login --from 10 --limit 5 --peek"),
    "log": ("wc log login", "wc log login --limit 10 --json"),
    "stats": ("wc stats login", "wc stats --stale-after 36h --json"),
    "search": ("wc search passkey browser", "wc search --status OPEN passkey"),
    "updates": ("wc updates --since 3h",),
    "seen": ("wc seen login", "wc seen --all"),
    "reindex": ("wc reindex --closed",),
    "init": ("wc init", "wc init --push"),
    "sync": (
        "wc sync",
        "wc sync --dry-run --json",
        "wc sync git@example.org:team/threads.git",
    ),
    "worktrees": ("wc worktrees", "wc worktrees --json"),
    "problems": (
        "wc problems",
        "wc problems --all --json",
    ),
    "brief": (
        "wc brief",
        "wc brief --budget 500",
        "wc brief --json",
    ),
    "note": (
        "wc note 'writing the tests'",
        "wc note 'waiting for a review' --status waiting --for 3h",
        "wc note --clear",
    ),
    "statusline": ("wc statusline --color always",),
    "completion": ("wc completion zsh",),
    "help": ("wc help say",),
}

# What is run before the examples of a command, and shown to nobody.
BEFORE = {
    "handoff": "wc take login --reason 'It is an example'",
    "take": "wc handoff login --to anyone --reason 'It is an example'\n"
    "wc new release --title 'Ship it' --to 'Claude Code'",
}

# What no test runs, for it goes on until somebody ends it.
ENDLESS = {
    "sync": ("wc sync --watch --every 10",),
    "wait": (
        "wc wait",
        "wc wait login --timeout 30m --notify",
        "wc wait --new --json",
    ),
}

REMARKS = {
    "say": """\
The ball goes to `--to`, else to your counterpart. If somebody else holds it, the
entry is saved and the ball stays; see [the ball](store.md#the-ball). At a terminal, a
person who gives no body gets `$GIT_EDITOR`, `$VISUAL` or `$EDITOR`, whichever is set
first. A topic that does not exist yet becomes a new thread.""",
    "read": """\
It marks the thread as read for you, unless `--peek` is given or entries are left for
the next call.""",
    "log": """\
The commit of an entry is the one that names it; of commits that name none, the first
that added its line. *by* is whose name stands on the commit, where it is another one
than the entry's. *not pushed* is what no remote is known to have; nothing is asked of
the network. A store that is committed with the code shows the code's commits; outside
git there are none.""",
    "stats": """\
A bounce is a ball that comes straight back from the one it was passed to. Names count
with all their parts. Figures are of all threads, from their states; authors and bounces
of the 100 that moved last, for which the logs have to be read. What an older tool did
with a ball is not known and shows as `?`.""",
    "init": """\
The first write does the same. Without `--push` nothing is asked of the network, and
nothing is pushed; with it, it exchanges with the remote as `wc sync` does.""",
    "sync": """\
What is on disk is committed, what the remote has is merged, what it has not is pushed;
there is no conflict to resolve. Where nobody has checked out the store yet, it does
that first. A remote that was given the branch once is kept up to date in the
background from then on. [Between machines](sync.md) has the rest: where to, what each
message means, how to turn it off.""",
    "worktrees": """\
Nothing is run or asked: it reads git's files, the threads, what participants have
[noted](store.md#presence), and in each worktree `.claude/loop-state.json` and
`.claude/activity.json`, where other tools keep how an autonomous loop stands and
what an agent is at. The threads of a worktree are those last written from its
branch, or named after its branch or its change (a folder `<project>-wt-<change>`).
Whatever comes from a file has its age. A file that is being rewritten shows what
it said before, where that is known, and says so.""",
    "wait": """\
The thread is shown as `wc read --new` shows it, and counts as read. What counts is a
ball that came after your last entry and that you have not read: an answer that was
faster than you is not missed, and what you left lying before wakes nobody. Of threads
that you name, it returns at once if you have the ball. Without `--timeout` it waits for
as long as it takes. See [waking an agent](hooks.md#waking-an-agent-that-is-idle).""",
    "problems": """\
Nothing is listed that heals by itself, or that only a look at every log finds: that is
`wc doctor`. Threads are looked at for 200 ms, those that changed last first. It fits
into a prompt or a cron job.""",
    "brief": """\
It is made of small files that the writer keeps, so that it takes no longer in a store
of ten thousand threads; what it could not look at in time, it says. A ball is *stale*
when the same one has had it for more than two days. A token is taken for four bytes.
With `--hook` it answers the hook of an agent, in the form of the client, and never
fails: see [hooks](hooks.md).""",
    "note": """\
It is of this machine alone, moves no ball and is no entry; see
[presence](store.md#presence).""",
    "statusline": """\
The prompt uses the script `wc-statusline`, which prints the same from small files and
starts this command for what it cannot do itself. This one reads the threads.""",
    "whoami": """\
`--explain` shows the rules for agent, seat and tag in the order in which they count,
with what each found, and whether the status line and a server say the same. See
[Who is who](identity.md).""",
    "break-lock": """\
Locks end with their process, so this is needed only where a file system keeps those of
processes that are gone. It takes `WATERCOOLER_ALLOW_BREAK_LOCK=1` and `--force`, and
never breaks the lock of a process that runs on this machine.""",
    "reindex": "The page is `.local/index.md` in the store; it prints the path.",
}

ENVIRONMENT = """\
## Environment

| variable | meaning |
|---|---|
| `WATERCOOLER_DIR` | the root of the store to use, instead of looking for one |
| `WATERCOOLER_AGENT` | who speaks, unless `--as` is given |
| `WATERCOOLER_SEAT` | the seat, unless `--seat` is given; `session`: each session of \
an agent has its own, see [Who is who](identity.md) |
| `WATERCOOLER_USER` | the tag: whose agent this is |
| `WATERCOOLER_SYNC` | settling and the way to the remote: `background` (default), \
`inline` or `off` |
| `WATERCOOLER_PUSH` | `auto` (default): pushed in the background where the remote has \
the branch; `off`: only when asked, by `wc sync`, `wc init --push` or `--sync` |
| `WATERCOOLER_FETCH_EVERY` | seconds after which a command fetches in the background; \
`0`: never; default 300 |
| `WATERCOOLER_LIMIT` | seconds that a command waits for a remote at most; default 30 |
| `WATERCOOLER_WATCH` | how the server notices changes: `auto` (default), `on`: on a \
network file system too, `off` |
| `WATERCOOLER_GIT_REPO` | the remote to exchange threads with: a remote's name, a URL \
or a path |
| `WATERCOOLER_GIT_SSH_KEY` | the private key to use for ssh |
| `WATERCOOLER_GIT_AUTHOR` | whose name stands on the store's commits |
| `WATERCOOLER_GIT_EMAIL` | and whose address |
| `WATERCOOLER_ALLOW_BREAK_LOCK` | `1`: `wc break-lock --force` may do what it says |
| `WATERCOOLER_DEBUG` | `1`: a line of JSON for each command in the store's \
`.local/debug.log`, without what anybody wrote; `bodies`: with it. See \
[debugging](observe.md#debugging) for the server |
| `WATERCOOLER_BRIEF_MS` | milliseconds that `wc brief` may take, and `wc problems` to \
look at threads; default 200. What it has by then is shown, and that it is not all |
| `WATERCOOLER_NOTIFY` | how `wc wait` tells a person, besides its options: `desktop`, \
`bell`, `osc`, with commas between them |
| `WATERCOOLER_ASCII` | `1`: the status line without emoji |
| `NO_COLOR` | no colours |
| `COLUMNS` | the status line is cut to this width |
"""

EXIT_TEXT = """\
## Exit codes

Scripts and agents may rely on them, and on the code strings, which the MCP server
uses too. With `--json` the error is JSON on standard error:
`{"error": {"code": …, "message": …, "hint": …}}`. A write that fails has written
nothing. 10 is kept for a command to come; none gives it yet.
"""
