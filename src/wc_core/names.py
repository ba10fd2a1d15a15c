"""Who is who: ``Agent@seat (tag)``, and when two names mean the same one.

*agent* is which program or person, *seat* which linked worktree, *tag* whose.
A name with fewer parts means any: a ball at ``Codex`` is for every Codex.
"""

from __future__ import annotations

from typing import NamedTuple

# The spellings people and older stores use, by comparison key, and the one
# canonical name each stands for. Settings may add to it.
PLATFORMS: dict[str, str] = {
    "amp": "Amp",
    "antigravity": "Antigravity",
    "claude": "Claude Code",
    "claudecode": "Claude Code",
    "claude-code": "Claude Code",
    "claudedesktop": "Claude Desktop",
    "claude-desktop": "Claude Desktop",
    "cline": "Cline",
    "codex": "Codex",
    "codexcli": "Codex",
    "codex-cli": "Codex",
    "copilotcli": "Copilot CLI",
    "copilot-cli": "Copilot CLI",
    "github-copilot-cli": "Copilot CLI",
    "crush": "Crush",
    "cursor": "Cursor",
    "cursor-agent": "Cursor",
    "gemini": "Gemini CLI",
    "geminicli": "Gemini CLI",
    "gemini-cli": "Gemini CLI",
    "goose": "Goose",
    "kiro": "Kiro",
    "kiro-cli": "Kiro",
    "opencode": "opencode",
    "openhands": "OpenHands",
    "pi": "Pi",
    "qwen": "Qwen Code",
    "qwencode": "Qwen Code",
    "qwen-code": "Qwen Code",
    "windsurf": "Windsurf",
    "zed": "Zed",
    "visualstudiocode": "VS Code",
    "vscode": "VS Code",
    "github_copilot_vscode_agent": "VS Code",
}

# Words for "nobody holds it" on the command line and in older stores.
FREE_WORDS = frozenset({"anyone", "anybody", "nobody", "none", "free", "-"})

MAX_NAME_BYTES = 200


def fold(text: str) -> str:
    """The comparison form of one part of a name: no case, no spacing."""
    return "".join(text.split()).casefold()


class Name(NamedTuple):
    """One participant; ``seat`` and ``tag`` are empty where they do not apply."""

    agent: str
    seat: str = ""
    tag: str = ""

    def __str__(self) -> str:
        """The one written form, ``Agent@seat (tag)``; `parse` reads it back."""
        seat = f"@{self.seat}" if self.seat else ""
        tag = f" ({self.tag})" if self.tag else ""
        return f"{self.agent}{seat}{tag}"


def parse(text: str) -> Name:
    """Read ``Agent@seat (tag)``; text of any other shape is all agent."""
    rest, tag = text.strip(), ""
    if rest.endswith(")"):
        head, _, tail = rest[:-1].rpartition("(")
        if head.strip() and tail.strip():
            rest, tag = head.strip(), tail.strip()
    agent, found, seat = rest.partition("@")
    if not agent.strip() or (found and not seat.strip()):
        return Name(rest, "", tag)
    return Name(agent.strip(), seat.strip(), tag)


class Directory(NamedTuple):
    """The alias table in force: the platforms' names plus a store's own."""

    aliases: dict[str, str] = PLATFORMS

    def canonical(self, name: Name) -> Name:
        """The same participant with its agent spelt the canonical way; an
        alias of an alias is followed to its end."""
        agent, passed = name.agent, set()
        while (word := fold(agent)) in self.aliases and word not in passed:
            passed.add(word)
            agent = self.aliases[word]
        return name._replace(agent=agent)

    def key(self, name: Name) -> str:
        """A form that is equal exactly when two names are the same one.

        It is also the file name of status lines, before escaping:
        ``claudecode@fix(pat)``.
        """
        agent = fold(self.canonical(name).agent)
        seat = f"@{fold(name.seat)}" if name.seat else ""
        tag = f"({fold(name.tag)})" if name.tag else ""
        return f"{agent}{seat}{tag}"

    def matches(self, pattern: str, who: Name) -> bool:
        """Whether ``pattern`` (a ball's holder, a filter) means ``who``."""
        return self.key(parse(pattern)) in self.match_keys(who)

    def match_keys(self, who: Name) -> tuple[str, ...]:
        """The keys of every name that means ``who``, the fullest first."""
        variants = (who, who._replace(tag=""), who._replace(seat=""), Name(who.agent))
        return tuple(dict.fromkeys(self.key(variant) for variant in variants))

    def same(self, one: str, other: str) -> bool:
        """Whether two written names are the same participant, part by part."""
        return one == other or self.key(parse(one)) == self.key(parse(other))
