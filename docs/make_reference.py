#!/usr/bin/env python3
"""Writes what of the documentation follows from the code: docs/commands.md,
docs/api.md, the messages of docs/troubleshooting.md, the manual pages.

    docs/make_reference.py            write them
    docs/make_reference.py --check    exit 1 if they are not what would be written

Commands, options and exit codes come from the code; the words around them and
the examples stand here. An example that wc would not understand is an error.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from wc_cli import options, table, writing  # noqa: E402 (the checkout's own)
from wc_core import errors  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.options import Options, Param

PAGE = ROOT / "docs" / "commands.md"

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

SHARED: dict[type[Options], tuple[str, str]] = {
    writing.Speaker: ("Who speaks", SPEAKER),
    writing.Conditions: ("Conditions", CONDITIONS),
}

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
The prompt uses the script `wc-statusline`, which says the same from small files and
starts no process. This one looks at the threads themselves.""",
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


def panels() -> dict[str, list[str]]:
    """The commands by panel, in the order of the help."""
    found: dict[str, list[str]] = {}
    for name, command in table.COMMANDS.items():
        found.setdefault(command.panel, []).append(name)
    return found


def declared(name: str) -> type[Options]:
    """What a command declares."""
    command = table.load(name)
    if command is None:
        raise SystemExit(f"there is no command {name}")
    return command.options


def sentence(command: type[Options]) -> str:
    """What it does, on one line."""
    return " ".join((inspect.getdoc(command) or "").split())


def usage(name: str, command: type[Options]) -> str:
    """The line with its arguments and what it cannot do without."""
    words = ["wc", name]
    params = command.params()
    for param in params:
        required = param.default is options.REQUIRED
        if not param.flags:
            many = param.kind == options.WORDS
            words.append(param.metavar if required or many else f"[{param.metavar}]")
        elif required:
            words.append(spelling(param))
    return " ".join(words) + (
        " [OPTION...]" if any(one.flags for one in params) else ""
    )


def spelling(param: Param) -> str:
    """An option as one writes it."""
    return " ".join([", ".join(param.flags), param.metavar]).strip()


def option_rows(params: Iterable[Param]) -> Iterator[str]:
    """A table of options or arguments."""
    for param in params:
        default = ""
        if param.default is options.REQUIRED:
            default = " Required."
        elif param.default and param.kind != options.WORDS:
            default = f" Default: `{param.default}`."
        help_text = param.help.replace("|", "\\|")
        yield f"| `{spelling(param)}` | {help_text}{default} |\n"


def option_table(params: Iterable[Param]) -> str:
    """The rows under their heading; nothing without any."""
    rows = list(option_rows(params))
    return "".join(["| option | meaning |\n|---|---|\n", *rows]) if rows else ""


def section(name: str) -> Iterator[str]:
    """Everything about one command."""
    command = declared(name)
    also = [alias for alias, real in table.ALIASES.items() if real == name]
    yield f"\n### wc {name}\n\n{sentence(command)}"
    yield f" Also written `wc {also[0]}`.\n" if also else "\n"
    yield f"\n    {usage(name, command)}\n"
    if name in REMARKS:
        yield f"\n{REMARKS[name]}\n"
    shared = [one for one in SHARED if issubclass(command, one)]
    inherited = {param.name for one in shared for param in one.params()}
    own = option_table(one for one in command.params() if one.name not in inherited)
    yield f"\n{own}" if own else ""
    if shared:
        links = (f"[{title.lower()}](#{anchor(title)})" for title in titles(shared))
        yield f"\nAlso: {', '.join(links)}.\n"
    if name in BEFORE:
        yield f"\n<!-- run\n{BEFORE[name]}\n-->"
    yield examples(EXAMPLES.get(name, ()), "sh")
    yield examples(ENDLESS.get(name, ()), "sh elsewhere")


def examples(lines: Iterable[str], kind: str) -> str:
    """The examples as a block; nothing without any."""
    text = "".join(f"{line}\n" for line in lines)
    return f"\n```{kind}\n{text}```\n" if text else ""


def titles(shared: Iterable[type[Options]]) -> list[str]:
    """The headings of shared options."""
    return [SHARED[one][0] for one in shared]


def anchor(title: str) -> str:
    """The address of a heading."""
    return title.lower().replace(" ", "-")


def shared_sections() -> Iterator[str]:
    """The options that many commands have."""
    seen: set[str] = set()
    for command, (title, text) in SHARED.items():
        params = [one for one in command.params() if one.name not in seen]
        seen |= {one.name for one in params}
        yield f"\n### {title}\n\n{text}\n\n{option_table(params)}"


def exit_codes() -> Iterator[str]:
    """The table of exit codes."""
    yield "\n| exit | code | when |\n|---|---|---|\n| 0 | | done |\n"
    bug = "a bug: a short message, and the path of a file with the details"
    yield f"| 1 | {errors.WcError.code} | {bug} |\n"
    known = errors.WcError.__subclasses__()
    for error in sorted(known, key=lambda one: one.exit_code):
        when = (inspect.getdoc(error) or "").rstrip(".")
        yield f"| {error.exit_code} | {error.code} | {when[0].lower()}{when[1:]} |\n"
    yield "| 130 | | interrupted with ^C |\n"


def check_examples() -> None:
    """Raise SystemExit for an example that wc does not understand."""
    for name, lines in (*EXAMPLES.items(), *ENDLESS.items()):
        for line in lines:
            words = shlex.split(line.rpartition("| ")[2])
            known = words[:2] == ["wc", name]
            if not known or options.parse(declared(name), words[2:]) is None:
                raise SystemExit(f"this example is wrong: {line}")


def page() -> str:
    """All of docs/commands.md."""
    check_examples()
    parts = [INTRO]
    for panel, names in panels().items():
        parts.append(f"\n## {panel}\n\n| command | what it does |\n|---|---|\n")
        for name in names:
            says = sentence(declared(name))
            parts.append(f"| [`wc {name}`](#wc-{name}) | {says} |\n")
        for name in names:
            parts.extend(section(name))
    parts += ["\n## Options that many commands have\n", *shared_sections()]
    parts += [f"\n{EXIT_TEXT}", *exit_codes(), f"\n{ENVIRONMENT}"]
    return "".join(parts)


def pages() -> dict[Path, str]:
    """Each page with its path."""
    import make_api
    import make_man  # it needs what stands here
    import make_messages

    return {
        PAGE: page(),
        make_api.PAGE: make_api.page(),
        make_messages.PAGE: make_messages.page(),
        **make_man.pages(),
    }


def main() -> int:
    """Write the pages, or compare them."""
    for path, text in pages().items():
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{path} is out of date: run docs/make_reference.py\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
