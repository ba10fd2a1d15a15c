"""The table of the keys in a person's own file, see
`wc_core.ledger.configuration.preferences`."""

from __future__ import annotations

from wc_core.ledger.configuration.keys import (
    ADDRESS,
    COMMAND,
    NAME,
    NAMES,
    NUMBER,
    SWITCH,
    TEXTS,
    Key,
)

_MAX_WAKES = 1000
_MAX_DIMENSIONS = 8192
_MAX_RUN = 24 * 60

KEYS = (
    Key(
        "defaults.COMMAND",
        TEXTS,
        "Options that you always want for a command that reads, such as --open.",
        field="defaults",
    ),
    Key(
        "notify.targets",
        TEXTS,
        "Where you are notified: desktop.",
        field="targets",
    ),
    Key(
        "notify.command",
        COMMAND,
        "What notifies you, too: the event is in its variables and its input.",
        field="notify_command",
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
        "wake.carriers",
        TEXTS,
        "Branches, as codex/*, whose carried balls wake your agents, too.",
        field="wake_carriers",
    ),
    Key(
        "wake.per_hour",
        NUMBER,
        "How often each of your agents may be woken per hour.",
        12,
        field="wakes_per_hour",
        most=_MAX_WAKES,
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
        "run.minutes",
        NUMBER,
        "How long one run of an agent may take.",
        60,
        field="run_minutes",
        least=1,
        most=_MAX_RUN,
    ),
    Key(
        "run.worktrees",
        NAME,
        "Where wc run makes worktrees; {repo} and {topic} are replaced.",
        "../{repo}-wt-{topic}",
        field="run_worktrees",
    ),
    Key(
        "run.AGENT",
        TEXTS,
        "The command that runs an agent, as codex.",
        field="run_commands",
        former=(".environment", ".cloud_minutes", "-cloud", "-diff"),
    ),
    Key(
        "summaries.endpoint",
        ADDRESS,
        "The model server that summarises what you write; none: nothing is sent.",
        field="summaries_endpoint",
    ),
    Key(
        "summaries.model",
        NAME,
        "The model to ask that server for, as qwen3:4b.",
        field="summaries_model",
    ),
    Key(
        "meaning.enabled",
        SWITCH,
        "Whether searches use meaning if words find little.",
        default=True,
        field="by_meaning",
    ),
    Key(
        "meaning.endpoint",
        ADDRESS,
        "A model server that entries and queries are sent to; none: this machine.",
        field="meaning_endpoint",
    ),
    Key(
        "meaning.model",
        NAME,
        "The model to ask that server for, as nomic-embed-text.",
        field="meaning_model",
    ),
    Key(
        "meaning.dimensions",
        NUMBER,
        "Numbers in one of its vectors; 0: the model's default.",
        0,
        field="meaning_dimensions",
        most=_MAX_DIMENSIONS,
    ),
)
