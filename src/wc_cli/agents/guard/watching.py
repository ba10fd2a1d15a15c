"""The guard around one tool call: the answers before and after it."""

from __future__ import annotations

from wc_cli.agents.guard import texts
from wc_cli.ledger.branch.git import GitError
from wc_core.base.values import NamedTuple
from wc_core.edits.guard import toolcalls
from wc_core.ledger.configuration.keys import NOTICE, OFF, REFUSE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_cli.agents.guard.rivals import Rival, Rivals
    from wc_cli.agents.guard.texts import Alternatives, GuardText
    from wc_core.edits.guard.toolcalls import ToolCall

    FilesByClaim = Mapping[str, Mapping[str, str]]


class GuardMemory(NamedTuple):
    """What a session remembers: the changed ``files`` of each claim, and the claims it
    was ``warned`` of. ``log_length`` is the length of the log of HEAD before the tool.
    The agent of a session and each ``subagent`` have read different warnings."""

    files: FilesByClaim
    warned: frozenset[str]
    log_length: int
    subagent: str = ""

    def unwarned(self, rivals: Sequence[Rival]) -> list[Rival]:
        """The rivals that this agent was not warned of yet."""
        return [rival for rival in rivals if self._key(rival) not in self.warned]

    def with_warned(self, rivals: Sequence[Rival]) -> GuardMemory:
        """The memory after a warning about these rivals."""
        return self._replace(warned=self.warned | set(map(self._key, rivals)))

    def _key(self, rival: Rival) -> str:
        return f"{rival.key}\n{self.subagent}" if self.subagent else rival.key


class GuardAnswer(NamedTuple):
    """The session's new memory, the text for the agent, and whether the call is
    refused."""

    memory: GuardMemory
    text: GuardText | None = None
    refused: bool = False


class ClaimGuard(NamedTuple):
    """The guard of one agent in one worktree; ``level`` is one of the settings."""

    rivals: Rivals
    alternatives: Alternatives
    level: str

    @property
    def is_on(self) -> bool:
        """Return whether there is anything to guard."""
        return self.level != OFF and bool(self.rivals.claims)

    def before(self, call: ToolCall, memory: GuardMemory) -> GuardAnswer:
        """The answer before a tool is called."""
        if not self.is_on or not toolcalls.may_write(call):
            return GuardAnswer(memory)
        files, length = _watched(self.rivals, memory.files), self.rivals.log_length()
        memory = memory._replace(files=files, log_length=length)
        concerned = self.rivals.on(toolcalls.paths(call))
        refusing = [rival for rival in concerned if rival.covers_file]
        if self.level == REFUSE and refusing:
            text = texts.refusal(refusing, self.alternatives)
            return GuardAnswer(memory, text, refused=True)
        fresh = memory.unwarned(concerned)
        if self.level == NOTICE or not fresh:
            return GuardAnswer(memory)
        text = texts.advice(fresh, self.alternatives)
        return GuardAnswer(memory.with_warned(fresh), text)

    def after(self, memory: GuardMemory) -> GuardAnswer:
        """The answer after a tool was called: what has changed in others' claims. Each
        claim and file is mentioned once. Raises GitError."""
        if not self.is_on:
            return GuardAnswer(memory._replace(files={}))
        files = self.rivals.changed_files()
        length = memory.log_length or self.rivals.log_length()
        committed = self.rivals.committed_files(length)
        changed = self.rivals.newly_changed(memory.files, files, committed)
        fresh = memory.unwarned(changed)
        length = self.rivals.log_length()
        memory = memory._replace(files=files, log_length=length).with_warned(fresh)
        text = texts.notice(fresh, self.alternatives) if fresh else None
        return GuardAnswer(memory, text)


def _watched(rivals: Rivals, files: FilesByClaim) -> FilesByClaim:
    """The changed files of each claim before a tool runs. For claims that already
    existed, as they were after the last tool."""
    if all(claim.id in files for claim in rivals.claims):
        return files
    try:
        current = rivals.changed_files()
    except GitError:
        return files
    return {claim_id: files.get(claim_id, current[claim_id]) for claim_id in current}
