"""The text of docs/commands.md and of the manual page that is not in a declaration:
introductions, remarks and examples."""

INTRO = """\
# Commands

*Written by `docs/make_reference.py` from the declarations in `src/wc_cli`; change
those, not this page.*

`wc help` shows where to start and the groups of commands, `wc help --all` lists them
all. `wc help COMMAND` or `wc COMMAND --help` explains one.
`wc-cli` runs the same commands. Every command works from any folder of any worktree of
the repository. Results go to standard output, everything else to standard error.
Options may be anywhere in the line; after `--` nothing is an option. The manual page
`man wc-cli` has the same content. Each error is explained in
[troubleshooting](troubleshooting.md#by-the-message).

The examples are meant to be typed in the order of this page, in a [new
repository](README.md#the-examples) that was prepared like this:

```sh
echo 'Passwords go.' > plan.md
printf 'class Form:\\n    def check(self): ...\\n' > ui.py
git init -q --bare ../hub.git
git init -q --bare ../threads.git
git remote add origin ../hub.git
wc new login -m 'Log in with a passkey' --to 'Claude Code' --force
wc new logout -m 'Log out everywhere'
wc new hash -m 'Which hash?'
wc export login --format json --output login.json
echo '{"id": "bd-1", "title": "Old", "issue_type": "task"}' > issues.jsonl
```
"""

GLOBAL = """\
Every command takes these, before its name or after it: `wc --json list`, `wc list
--json`. A command without an answer in JSON refuses `--json`. A name is `Agent@seat
(tag)`; see [identity](store.md#identity). `--store` is for people, and does what
`WATERCOOLER_DIR` does for one command; the folder must exist. `--color auto` uses
colours on a terminal without `NO_COLOR`."""

CAREFUL = """\
Every command that writes an entry has these; claim, release, config and guidance have
`--lock-timeout`. A write whose condition does not hold
exits 4 and changes nothing. A second write with the same key prints the receipt of the
first and writes nothing. `--sync` waits until the entry is committed and pushed, and
pushes the branch to a remote that does not have it yet. If that fails, the exit status
is still 0, because the entry is saved, and a note says
why: see [messages](sync.md#what-the-messages-mean)."""

EXAMPLES = {
    "say": (
        "wc say hash -m 'Fixed, please review' --role implementer --to Codex",
        "wc say login -m 'Which hash?' -m 'The old one is SHA-1.'",
        "wc say login -m 'Needed tonight' --sync",
        "wc say login -m 'Look at these' --file src/auth.py --file ui.py --pr 12",
        "git diff --stat | wc say login -m 'What I changed' --body -",
        "wc say login -m 'It is back' --reopen",
        "wc say login --approve",
    ),
    "done": (
        "wc done logout -m 'All green, ready to merge'",
        "wc done login --request-changes -m 'The nonce is checked too late'",
    ),
    "ask": (
        "wc ask login --to Codex -m 'Which hash?'",
        "wc ask login --to 'Claude Code' -m 'And the salt?'",
    ),
    "answer": (
        "wc answer login -m 'Argon2' --as Codex",
        "wc answer login --withdraw",
    ),
    "ack": (
        "wc ack login -m 'Seen, after lunch'",
        "wc ack login --kind warning --severity high -m 'SHA-1 is broken'",
    ),
    "review": (
        "wc review login",
        "wc review login --stat",
        "wc review login --since 0",
    ),
    "land": ("wc land --queue", "wc land --all --dry-run"),
    "handoff": ("wc handoff login --to 'Claude Code' --note 'The tests are yours'",),
    "take": ("wc take login", "wc take release --reason 'No answer since Monday'"),
    "set-status": (
        "wc set-status login IN_REVIEW --to Codex",
        "wc set-status login CLOSED",
    ),
    "close": ("wc close hash -m 'Shipped' --decision 'Passkeys alone, no passwords'",),
    "use": ("wc use signup", "wc use", "wc use --none"),
    "whose": ("wc whose login", "wc whose login --json"),
    "amend": (
        "wc amend login -m 'Passkeys work, please review'",
        "wc amend login -b 'Tested in three browsers'",
    ),
    "retract": ("wc retract login",),
    "rename": ("wc rename login sign-in",),
    "link": (
        "wc link logout waits-for login",
        "wc link logout relates-to login",
        "echo '- login relates to logout' | wc link --from -",
    ),
    "unlink": ("wc unlink logout waits-for login", "wc unlink logout login"),
    "inbox": ("wc inbox", "wc inbox --not app --json"),
    "enrich": ("wc enrich --dry-run", "wc enrich login --limit 20"),
    "ready": ("wc ready", "wc ready --mine --json", "wc ready logout"),
    "tree": ("wc tree", "wc tree logout --json"),
    "tag": ("wc tag login +urgent +auth", "wc tag login -urgent"),
    "new": (
        "wc new signup -m 'Sign up with a passkey' --body @plan.md --to Codex",
        "wc new password -m 'Change it' --branch fix/password",
    ),
    "move": ("wc move login --branch fix/login",),
    "list": (
        "wc list",
        "wc list --all --sort topic",
        "wc list password +ui --stale 3d",
        "wc list --mine",
        "wc list --ball anyone --json",
        "wc list --file src/auth.py",
        "wc list --branch fix/password",
        "wc list --since yesterday",
        "wc list --mine --summaries",
    ),
    "read": (
        "wc read login --new",
        "wc read login --from 10 --limit 5 --peek",
        "wc read login --commits --last 10",
    ),
    "stats": (
        "wc stats login",
        "wc stats --all",
        "wc stats --stale-after 36h --json",
    ),
    "import": (
        "wc import login.json --dry-run",
        "wc import issues.jsonl --format beads",
    ),
    "export": (
        "wc export login --format json --output login.json",
        "wc export --all --format json --output threads.json",
    ),
    "board": ("wc board --once --closed",),
    "search": ("wc search passkey browser", "wc search --kind warning --severity high"),
    "updates": ("wc updates --since 3h", "wc updates --seen"),
    "reindex": ("wc reindex --closed",),
    "init": ("wc init", "wc init --push"),
    "guidance": (
        "wc guidance add --on handoff 'Run the tests first.'",
        "wc guidance list",
        "wc guidance remove --on handoff 1",
    ),
    "config": (
        "wc config list --show-origin",
        "wc config list rules",
        "wc config get ball.enforce",
        "wc config set counterparts.Codex 'Claude Code' Cursor",
        "wc config unset counterparts.Codex",
    ),
    "sync": (
        "wc sync",
        "wc sync --dry-run --json",
        "wc sync git@example.org:team/threads.git",
    ),
    "cloud": ("wc cloud", "wc cloud claude"),
    "worktrees": ("wc worktrees", "wc worktrees --json"),
    "brief": (
        "wc brief",
        "wc brief --json",
    ),
    "note": (
        "wc note 'writing the tests'",
        "wc note 'waiting for a review' --for 3h",
        "wc note --scope src/auth.py --intent refactor",
        "wc note --clear",
    ),
    "claim": (
        "wc claim src/auth.py -m 'new login form'",
        "wc claim src ui.py::Form.check --thread login --ttl 1h",
        "wc claim schema.sql --mode read",
        "wc claim src --takeover --reason 'No answer since Monday'",
    ),
    "release": ("wc release src/auth.py", "wc release --all"),
    "check": ("wc check src/auth.py", "wc check ui.py::Form --mode read --json"),
    "claims": ("wc claims", "wc claims src/auth.py --json"),
    "radar": ("wc radar", "wc radar --remote --json", "wc radar review"),
    "neighbors": ("wc neighbors ui.py", "wc neighbors ui.py::Form.check --json"),
    "statusline": ("wc statusline --color always",),
    "completion": ("wc completion zsh",),
    "help": ("wc help say",),
    "run": ("wc run --dry-run",),
    "wake": ("wc wake", "wc wake off --until 3h", "wc wake on"),
    "whoami": ("wc whoami", "wc whoami --explain"),
    "uninstall": ("wc uninstall --dry-run", "wc uninstall codex"),
    "doctor": ("wc doctor", "wc doctor --repair --dry-run", "wc doctor --repair"),
    "break-lock": ("wc break-lock login",),
    "skill": ("wc skill", "wc skill edits"),
    "version": ("wc version",),
}

# What comes before the examples of a command, on the page alone: with it, they do what
# they say.
BEFORE = {
    "handoff": ("wc take login --reason 'It is an example'",),
    "release": ("wc claim src/auth.py",),
    "radar": ("git branch -q review", "git switch -qc login"),
    "take": (
        "wc handoff login --to anyone --reason 'It is an example'",
        "wc new release -m 'Ship it' --to 'Claude Code'",
    ),
}

# Examples that no test runs: they run until they are interrupted, need a database, or
# ask a person.
ENDLESS = {
    "demo": ("wc demo", "wc demo --fast --keep"),
    "install": (
        "wc install",
        "wc install --dry-run",
        "wc install claude codex",
        "wc install --check",
    ),
    "open": ("wc open login",),
    "run": (
        "wc run --max 3",
        "wc run --ready --agent Codex --once",
        "wc run log login",
    ),
    "land": (
        "wc land login",
        "wc land --all --push",
        "wc land login --clean",
        "wc land login --commit 1a2b3c4",
    ),
    "sync": ("wc sync --watch --every 10",),
    "wait": (
        "wc wait",
        "wc wait login --timeout 30m --notify",
        "wc wait --new --json",
    ),
    "project": (
        "wc project falkordb://graph.example.org/threads",
        "wc project falkordb://graph.example.org/threads --all --check",
        "wc project falkordb://graph.example.org/threads --remove github.com/acme/app",
    ),
}

REMARKS = {
    "say": """\
The ball goes to `--to`, else to your counterpart. If someone else has it, the entry is
saved and the ball stays, with exit status 9 if `--to` names someone; see [the
ball](store.md#the-ball). A topic that does not exist
yet becomes a new thread.

The topic may be left out where the [status line](seeing.md#the-status-line) names
exactly one thread: the only open one of the worktree, or the only one there whose ball
you have. The receipt then begins with its name. Otherwise nothing is written.

As with `git commit`, `-m` is the title, and each further `-m` a paragraph of the text;
`-F FILE` takes both from a file.

If a person gives neither title nor text in a terminal, and with `-e`, the editor opens
(for `ack` and `close`, which need no text, only with `-e`): `$GIT_EDITOR`, git's
`core.editor`, `$VISUAL` or `$EDITOR`, whichever is set first. The first line
is the title. The last entries of the thread are shown below the text and not
saved with it. If you leave the editor without saving (`:q!` in vim), or save an empty
file, nothing is written and the exit status is 130. If the entry is refused, the text
is kept in a temporary file. `--no-edit` never opens an editor.

`--file`, `--pr` and `--commit` record what the entry is about; a path is kept from the
top of the repository. References in the title and the text need no option: they are
found when the entry is read.

With `--kind`, the entry is a remark that does not move the ball:
[kinds](daily.md#kinds-of-entries-and-questions).""",
    "new": """\
The thread belongs to the branch that is checked out, or to `--branch`, which need not
exist yet: [where a thread is](store.md#where-a-thread-is).""",
    "move": """\
Anyone may move a thread, open or closed. The prompt of a worktree with that branch
shows it from then on: [where a thread is](store.md#where-a-thread-is).""",
    "list": """\
`--file` finds threads with an entry about a file or folder, recorded or named in its
text. The end of a path is enough: `auth.py` also finds a file that was moved.

`--branch` finds the threads of a branch, which may not exist yet: those that belong to
it, are named after it, or whose holder is there ([where a thread
is](store.md#where-a-thread-is)). Elsewhere, in `read`, `updates` and
`search`, `--branch` is about entries: only those written on that branch.""",
    "read": """\
Marks the thread as read for you, unless `--peek` or `--branch` is given or entries are
left for the next call.

With `--commits`, each entry is a line with its commit: the one that names it or, if
none does, the first that added its line. *by* is the author of the commit, if not the
author of the entry. *not pushed* entries are on no known remote; the network is not
used. For a store that is committed with the code, these are the code's commits; outside
git there are none.""",
    "stats": """\
A bounce is a ball that goes straight back to the one who passed it. Names are compared
with all their parts. The figures cover all threads, from their states; authors and
bounces cover the 100 threads that moved last, because their logs have to be read. If
the log does not say what an older tool did with a ball, its holder is shown as `?`.""",
    "init": """\
The first write does the same. Without `--push`, the network is not used and nothing is
pushed; with it, the store is synced with the remote as by `wc sync`.""",
    "sync": """\
Commits what is on disk, merges what the remote has, and pushes what it lacks; there is
never a conflict to resolve. If the store is not checked out yet, this is done first. A
remote that has received the branch once is kept up to date in the background from then
on. [Between machines](sync.md) explains the rest: which remote is used, what each
message means, how to turn it off.

Entries that came with [agents' branches](sync.md#agents-in-the-cloud) are taken, too.
In an agent's session in the cloud, what cannot be pushed travels with its branch,
elsewhere only with `--carry`: in a commit that changes no file, or, without a remote,
in a file.""",
    "cloud": """\
What is known is filled in: where wc was installed from, and the address of `origin`.
[Agents in the cloud](sync.md#agents-in-the-cloud) explains what happens there.""",
    "worktrees": """\
The command runs nothing and asks nobody: it reads git's files, the threads, what
participants have [noted](edits.md#notes), and in each worktree
`.claude/loop-state.json` and `.claude/activity.json`, where other tools record the
state of an autonomous loop and the activity of an agent. Which threads a worktree has:
[where a thread is](store.md#where-a-thread-is). Information from a file is shown with
its age. For a file that is being rewritten, the previous content is shown, if known,
and marked.""",
    "land": """\
A thread can land if it is approved (`land.needs`), its ball is yours or free, and it
waits for nothing. The commit that was approved lands; if there are newer ones, a named
thread asks at a terminal, and exits 4 elsewhere. What its branch gets, the check, the
order and what happens to a branch that fails: [landing](review.md#landing). Exits 9 if
a branch did not land.""",
    "run": """\
Without arguments, it starts agents for all balls that are theirs, and goes on until
Ctrl-C. What counts as an agent's move, where it works and what happens when it ends:
[running agents](agents.md#running-agents).""",
    "wait": """\
Shows the thread as `wc read --new` does, which marks it as read. A ball counts if it
came after your last entry and you have not read it: you do not miss an answer that was
faster than you, and threads that you left before do not wake you. For threads that you
name, it returns immediately if you have the ball. Without `--timeout` it waits
indefinitely. See [waking an agent](agents.md#waking-an-idle-agent).""",
    "brief": """\
Reads only small files that every write updates, so it is just as fast in a store of ten
thousand threads; if it runs out of time, it says so. A ball is *stale* if the same
holder has had it for more than two days. A token is counted as four bytes. With
`--hook` it answers the hook of an agent, in the client's format, and never fails: see
[hooks](agents.md#hooks).""",
    "note": """\
A note does not move a ball and is in no list of threads. It ends with its session, when
its time is up, or with the next note. Other clones see it, too:
[notes](edits.md#notes).""",
    "claim": """\
A claim on a folder covers its files, one on a file covers its symbols. It is kept in a
git ref, so every worktree sees it at once. It ends with `wc release`, with its
holder's session, or if it is not renewed in time. See [claims](edits.md#claims).""",
    "check": """\
Only reads local files. The exit status is that of the verdict, the strictest of all
reasons: [verdicts](edits.md#may-i-edit-this).""",
    "radar": """\
*Hot* files conflict when both branches are merged, *soft* ones merge cleanly, and
*registries* (changelogs, lock files) conflict in a way that is easily resolved. Neither
the index nor a file of a worktree is touched. `BRANCH` may also be a commit, or a
participant in a worktree: `Codex@review`. See [radar](edits.md#radar).""",
    "statusline": """\
The prompt uses the script `wc-statusline`, which prints the same from small files and
starts no process. This command reads the threads themselves.""",
    "whoami": """\
`--explain` shows the rules for agent, seat and tag in order of precedence, with the
result of each, and whether the status line and a server agree. See [Who is
who](identity.md).""",
    "break-lock": """\
Locks end with their process, so you only need this on file systems that keep the locks
of ended processes. It requires `WATERCOOLER_ALLOW_BREAK_LOCK=1` and `--force`, and
never breaks the lock of a process that runs on this machine.""",
    "reindex": """\
The page is `.local/index.md` in the store, with a link to the page of each thread; it
prints the path.""",
}

ENVIRONMENT = """\
## Environment

| variable | meaning |
|---|---|
| `WATERCOOLER_DIR` | the root of the store to use, unless `--store` is given |
| `WATERCOOLER_AGENT` | the author, unless `--as` is given |
| `WATERCOOLER_SEAT` | the seat, unless `--seat` is given; `session`: a separate seat \
for each session of an agent, see [Who is who](identity.md) |
| `WATERCOOLER_USER` | the tag: whose agent this is |
| `WATERCOOLER_DETECT` | `off`: agents are detected by variables, not by programs, \
see [Who is who](identity.md#which-agent) |
| `WATERCOOLER_SYNC` | when to settle and to sync with the remote: `background` \
(default), `inline` or `off` |
| `WATERCOOLER_GIT_REPO` | the remote to exchange threads with: a remote's name, a URL \
or a path |
| `WATERCOOLER_GIT_SSH_KEY` | the private key to use for ssh |
| `WATERCOOLER_GIT_AUTHOR` | the author of the commits of what you write |
| `WATERCOOLER_GIT_EMAIL` | the author's address |
| `WATERCOOLER_MODEL_KEY` | the key of the model servers that \
[summarise entries](daily.md#summaries-from-a-model-server) and find \
[meaning](search.md#meaning) |
| `WATERCOOLER_GRAPH_USER`, `WATERCOOLER_GRAPH_PASSWORD` | the login for a \
[graph database](search.md#a-graph-of-all-repositories), unless its address has one |
| `WATERCOOLER_ALLOW_BREAK_LOCK` | `1`: allow `wc break-lock --force` |
| `WATERCOOLER_HTTP_TOKEN_FILE`, `WATERCOOLER_HTTP_OAUTH_SECRET` | the tokens and the \
secret of the [server over HTTP](observe.md#who-may-call) |
| `WATERCOOLER_SANDBOX` | the name of the machine in the \
[cloud](sync.md#agents-in-the-cloud) that this is, where `wc` does not recognise it |
| `WATERCOOLER_MEANING` | `off`: searches go by words alone, and no vectors are made |
| `NO_COLOR` | no colours, unless `--color` is given |
| `COLUMNS` | the available width of the status line |
"""

EXIT_TEXT = """\
## Exit codes

Scripts and agents may rely on these and on the code strings, which the MCP server
uses, too. With `--json` the error is JSON on standard error:
`{"error": {"code": …, "message": …, "hint": …}}`. A write that fails has written
nothing; only with exit 9 the entry is saved: do not write it again.
"""
