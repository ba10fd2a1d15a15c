"""The list of commands, and the module that carries out each.

A module is imported when its command is used, so that no command slows down another.
"""

from __future__ import annotations

import sys

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.options import Declared


class Command(NamedTuple):
    """A command: ``module:attribute`` of its `Declared`, and its panel in the help.

    ``agents``: agents may run it without asking their user, with all of its options.
    An option that needs a person refuses an agent by itself. ``beyond``: it reaches
    beyond the threads (it publishes, starts programs, writes any file, or changes what
    others get), so a client that runs every `wc` has to be told to ask.
    """

    place: str
    panel: str
    agents: bool = False
    beyond: bool = False


WRITING, READING, PLACE, ABOUT = "Write", "Read", "Store", "Help"

COMMANDS: dict[str, Command] = {
    "say": Command("commands.writing:say", WRITING, agents=True),
    "done": Command("commands.writing:done", WRITING, agents=True),
    "ack": Command("commands.writing:ack", WRITING, agents=True),
    "ask": Command("commands.remarks.questions:ask", WRITING, agents=True),
    "answer": Command("commands.remarks.questions:answer", WRITING, agents=True),
    "handoff": Command("commands.writing:handoff", WRITING, agents=True),
    "take": Command("commands.writing:take", WRITING, agents=True),
    "set-status": Command("commands.writing:set_status", WRITING),
    "close": Command("commands.closing:close", WRITING, agents=True),
    "move": Command("commands.writing:move", WRITING),
    "new": Command("commands.writing:new", WRITING, agents=True),
    "amend": Command("commands.correcting:amend", WRITING, agents=True),
    "retract": Command("commands.correcting:retract", WRITING),
    "rename": Command("commands.labels:rename", WRITING),
    "tag": Command("commands.labels:tag", WRITING),
    "link": Command("commands.plan.links:link", WRITING, agents=True),
    "unlink": Command("commands.plan.links:unlink", WRITING),
    "ready": Command("commands.plan.readiness:ready", READING, agents=True),
    "tree": Command("commands.plan.readiness:tree", READING),
    "brief": Command("commands.brief:brief", READING, agents=True),
    "inbox": Command("commands.repository.inbox:inbox", READING, beyond=True),
    "wait": Command("commands.wait:wait", READING, agents=True),
    "wake": Command("commands.session.wake:wake", PLACE, beyond=True),
    "run": Command("commands.session.running:run", PLACE, beyond=True),
    "list": Command("commands.reading.lists:list_threads", READING, agents=True),
    "read": Command("commands.reading.thread:read", READING, agents=True),
    "open": Command("commands.reading.opening:open_page", READING, beyond=True),
    "use": Command("commands.reading.localthread:use", READING),
    "whose": Command("commands.reading.localthread:whose", READING, agents=True),
    "search": Command("commands.reading.searching:search", READING, agents=True),
    "updates": Command("commands.reading.newentries:updates", READING),
    "stats": Command("commands.stats:show_stats", READING),
    "import": Command("commands.exchange.importing:import_files", WRITING, beyond=True),
    "export": Command("commands.exchange.export:export", READING, beyond=True),
    "project": Command("commands.exchange.project:project", PLACE, beyond=True),
    "board": Command("commands.board:board", READING),
    "reindex": Command("commands.reading.lists:reindex", READING),
    "worktrees": Command("commands.worktrees:worktrees", READING),
    "note": Command("commands.edits.note:note", WRITING, agents=True),
    "claim": Command("commands.edits.claims:claim", WRITING, agents=True),
    "release": Command("commands.edits.claims:release", WRITING, agents=True),
    "check": Command("commands.edits.check:check", READING, agents=True),
    "claims": Command("commands.edits.claims:claims", READING),
    "radar": Command("commands.edits.radar:radar", READING, agents=True),
    "review": Command("commands.edits.review:review", READING, agents=True),
    "land": Command("commands.edits.land:land", PLACE, beyond=True),
    "neighbors": Command("commands.edits.neighbors:neighbors", READING),
    "statusline": Command("commands.statusline:print_statusline", READING),
    "guidance": Command("commands.repository.guidance:guidance", PLACE, beyond=True),
    "config": Command("commands.repository.config:config", PLACE, beyond=True),
    "enrich": Command("commands.repository.enrich:enrich", PLACE, beyond=True),
    "sync": Command("commands.sync:sync", PLACE, beyond=True),
    "cloud": Command("commands.repository.cloud:cloud", PLACE, beyond=True),
    "init": Command("commands.stores:init", PLACE, beyond=True),
    "whoami": Command("commands.whoami:whoami", PLACE),
    "break-lock": Command("commands.stores:break_lock", PLACE, beyond=True),
    "doctor": Command("commands.doctor:doctor", PLACE, beyond=True),
    "install": Command("agents.install.command:install", PLACE, beyond=True),
    "uninstall": Command("agents.install.command:uninstall", PLACE, beyond=True),
    "demo": Command("commands.demo:demo", ABOUT, beyond=True),
    "skill": Command("commands.about:skill", ABOUT),
    "completion": Command("commands.about:completion", ABOUT),
    "version": Command("commands.about:version", ABOUT),
    "help": Command("commands.about:show_help", ABOUT),
}

# The spellings of earlier versions and of other tools, and words that people try.
ALIASES = {
    "set_status": "set-status",
    "break_lock": "break-lock",
    "show": "read",
    "ls": "list",
    "status": "list",
    "reply": "say",
}

# Words that people try, and what to type instead. They are no commands, but `wc`
# answers them; TOPIC stands for the word after it.
INSTEAD = {
    "budget": "wc config --global set run.AGENT COMMAND",
    "graph": "wc neighbors FILE",
    "notify": "wc config --global set notify.command COMMAND",
    "renew": "wc claim FILE",
    "takeover": "wc claim FILE --takeover --reason WHY",
    "publish": "git push",
    "carry": "wc sync --carry",
    "harvest": "wc sync",
    "activity": "wc worktrees",
    "reopen": "wc set-status TOPIC OPEN",
    "undo": "wc retract TOPIC",
    "delete": "wc close TOPIC",
    "todo": "wc list --mine",
    "next": "wc ready",
    "merge": "wc land TOPIC",
    "wrap": "wc list --mine",
    "related": "wc search WORDS",
    "timeline": "wc stats TOPIC",
    "digest": "wc updates",
    "decisions": "wc search --kind decision",
    "log": "wc read TOPIC --commits",
    "watch": "wc board",
    "tui": "wc board",
    "web": "wc-observe web",
    "serve": "wc-observe --transport http",
    "mcp": "wc install",
    "plan": "wc new TOPIC --blocked-by OTHER",
    "block": "wc link TOPIC waits-for OTHER",
    "why": "wc ready TOPIC",
    "gate": "wc ready TOPIC",
    "checklist": "wc new TOPIC --body '- [ ] a step'",
    "check-off": "wc say TOPIC --tick N",
    "seen": "wc read TOPIC --seen",
    "conflicts": "wc radar BRANCH",
    "rules": "wc config list rules",
    "problems": "wc doctor",
}

# Words that may mean a command of ours. `wc` leaves them to the system's program, which
# may have a file of that name to count, and only tells a person at a terminal.
SYNONYMS = {
    "say": ("post", "write", "add", "comment", "send", "tell", "message"),
    "read": ("view", "cat", "get", "display", "history"),
    "done": ("finish", "end", "resolve", "complete"),
    "new": ("create", "start", "begin", "thread"),
    "handoff": ("pass", "give", "assign", "delegate"),
    "search": ("find", "grep", "query"),
    "list": ("threads", "mine", "all"),
    "updates": ("news", "changes", "recent"),
    "install": ("setup", "upgrade"),
    "whoami": ("who", "me"),
    "sync": ("push", "pull", "fetch"),
}

# Every other command is an occasion for guidance: the repository's guidance for it
# comes with the answer.
NO_OCCASION = {
    "board": "it fills the screen until it ends",
    "statusline": "it has one line",
    "whose": "it has a line for each thread",
    "open": "it opens a page",
    "use": "it concerns this worktree, not the work in it",
    "wake": "it concerns this machine, not the repository",
    "export": "it makes a file",
    "run": "it starts others, who get the guidance",
    "project": "it concerns a database, not the work here",
    "import": "it concerns other programs, not the work here",
    "inbox": "it concerns all repositories",
    "guidance": "it shows all of it",
    "config": "it concerns the repository itself, no work in it",
    "enrich": "it concerns what is written already",
    "init": "there is no store before it",
    "cloud": "it concerns other machines, not the work here",
    "break-lock": "a person repairs the store",
    "doctor": "a person repairs the store",
    "install": "it concerns this machine, not the repository",
    "uninstall": "it concerns this machine, not the repository",
    "demo": "it has a repository of its own",
    "skill": "it needs no store",
    "completion": "it needs no store",
    "version": "it needs no store",
    "help": "it needs no store",
}
# It gives guidance as one of its sections.
_OWN_SECTION = "brief"


def occasion(name: str) -> str:
    """Return the occasion for guidance of a command; empty if there is none."""
    name = ALIASES.get(name, name)
    return "" if name in NO_OCCASION or name == _OWN_SECTION else name


def occasions() -> tuple[str, ...]:
    """Return the commands that are occasions for guidance."""
    return tuple(name for name in COMMANDS if name not in NO_OCCASION)


def load(name: str) -> Declared | None:
    """Return the command with this name, or ``None``."""
    command = COMMANDS.get(ALIASES.get(name, name))
    if command is None:
        return None
    module, _, attribute = command.place.partition(":")
    name = f"wc_cli.{module}"
    __import__(name)  # importlib.import_module, without 1 ms for importlib
    declared: Declared = getattr(sys.modules[name], attribute)
    return declared
