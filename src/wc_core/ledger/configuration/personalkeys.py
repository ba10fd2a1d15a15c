"""The table of the keys in a person's own file, see
`wc_core.ledger.configuration.preferences`."""

from __future__ import annotations

from wc_core.ledger.configuration.keys import (
    LOCAL,
    NAMES,
    NUMBER,
    OFF,
    RUN_MINUTES,
    SERVER,
    SWITCH,
    TEXTS,
    WAKES_PER_HOUR,
    Key,
)

KEYS = (
    Key(
        "notify.command",
        TEXTS,
        "What notifies you: desktop, a command that gets the event, or several.",
        field="notify_commands",
    ),
    Key(
        "inbox.leave_out",
        TEXTS,
        "Repositories that wc inbox leaves out: names or paths.",
        field="left_out",
    ),
    Key(
        "inbox.statusline",
        SWITCH,
        "Whether the status line counts what waits in other repositories.",
        field="shows_elsewhere",
    ),
    Key(
        "wake.from",
        NAMES,
        "Whose balls from elsewhere wake your agents: known, anyone, or names.",
        ("known",),
        field="wake_from",
    ),
    Key(
        "run.from",
        NAMES,
        "Whose balls wc run starts agents for: own (written here), known, anyone, or "
        "names.",
        ("own",),
        field="run_from",
    ),
    Key(
        "land.by",
        NAMES,
        "Whose approvals from other clones count for wc land here.",
        (),
        field="land_by",
    ),
    Key(
        "run.AGENT",
        TEXTS,
        "The command that runs an agent, as codex.",
        field="run_commands",
        former=(
            ".environment",
            ".cloud_minutes",
            ".minutes",
            ".worktrees",
            "-cloud",
            "-diff",
        ),
    ),
    Key(
        "summaries.endpoint",
        SERVER,
        "The server and its model that summarise what you write; none: nothing is "
        "sent.",
        field="summaries_endpoint",
    ),
    Key(
        "meaning.endpoint",
        SERVER,
        "What searches use besides words: local (this machine), off, or a server and "
        "its model, which entries and queries are sent to.",
        field="meaning_endpoint",
        allowed=(LOCAL, OFF),
    ),
)

# As in `wc_core.ledger.configuration.keys`.
FORMER = (
    Key("meaning.enabled", SWITCH, "", field="by_meaning"),
    Key("run.minutes", NUMBER, "", field="run_minutes", least=1, most=RUN_MINUTES),
    Key("wake.per_hour", NUMBER, "", field="wakes_per_hour", most=WAKES_PER_HOUR),
)
