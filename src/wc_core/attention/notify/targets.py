"""Whether a person is notified. Targets of an older wc are only named, with what does
the same."""

from __future__ import annotations

from wc_core.base.text import one_line
from wc_core.ledger.configuration.preferences import DESKTOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.configuration.preferences import Preferences

_SET = "wc config --global set notify.command"
_POST = f"{_SET} 'curl -s --json @- URL'"
_INSTEAD = {
    DESKTOP: f"{_SET} {DESKTOP}",
    "bell": "wc wait --bell",
    "osc": f"{_SET} {DESKTOP}",
    "tmux": f"{_SET} 'tmux display-message wc'",
    "ntfy": f"{_SET} 'curl -s --data-raw \"$WC_TITLE\" URL'",
    "slack": _POST,
    "json": _POST,
}


def is_wanted(own: Preferences) -> bool:
    """Whether a person wants to be notified."""
    return bool(own.notify_commands)


def shown(text: str) -> str:
    """A target, or the first word of a command, without what may be a secret."""
    word, separator, _ = text.strip().replace(":", " ", 1).partition(" ")
    return one_line(f"{word} …" if separator else word)


def former(own: Preferences) -> list[str]:
    """A line for each target that notifies nobody now, with what does the same."""
    return [
        f"notify.targets: {shown(text)} notifies nobody now. "
        f"Instead: {_INSTEAD.get(text.partition(':')[0].strip(), _POST)}. "
        "Without this line: wc config --global unset notify.targets"
        for text in own.former_targets
    ]
