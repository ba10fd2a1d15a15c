"""The radar as it is shown: who changes the same files, and where they will conflict.
The same for the command, the server and the page."""

from __future__ import annotations

from wc_core.base.phrases import counted, shown_path
from wc_core.base.text import one_line
from wc_core.base.times import elapsed, rfc3339
from wc_core.base.values import NamedTuple
from wc_core.edits.claims.ids import ClaimId
from wc_core.edits.radar import kept, registries
from wc_core.edits.radar.model import HOT, REGISTRY, SOFT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.edits.radar.model import ApprovedBranch, Pair, Radar, SharedFile, Side
    from wc_core.ledger.git.repository import Repository

MAX_FILES = 200
_MAX_NAME = 200
_MAX_PATH = 300


# Conflicts predicted by an older radar are not reported.
_MAX_AGE_MS = 3600 * 1000


class Conflict(NamedTuple):
    """The files in which a worktree will conflict with the ``opposite`` one, as of
    ``at_ms``."""

    opposite: Side
    files: tuple[SharedFile, ...]
    at_ms: int

    @property
    def keys(self) -> frozenset[str]:
        """A text for each file, which differs for different conflicts."""
        return frozenset(
            "\n".join((self.opposite.path, file.path, *file.symbols))
            for file in self.files
        )

    @property
    def name(self) -> str:
        """The name of the other worktree, as ``wc radar`` accepts it."""
        return one_line(self.opposite.name, _MAX_NAME)

    @property
    def label(self) -> str:
        """The participant who works there, otherwise its name."""
        return one_line(self.opposite.label, _MAX_NAME)

    def sentence(self, limit: int) -> str:
        """The other worktree, and at most ``limit`` of the files."""
        name = self.name if self.label == self.name else f"{self.name} ({self.label})"
        return f"with {name}: {self.files_text(limit)}"

    @property
    def file_texts(self) -> tuple[str, ...]:
        """Each of the files, and where it will conflict."""
        return tuple(map(file_text, self.files))

    def files_text(self, limit: int) -> str:
        """At most ``limit`` of the files, and how many more there are."""
        return files_text(self.files, limit)

    def warning(self, file: SharedFile) -> str:
        """A sentence about one of the files."""
        branch = one_line(self.opposite.branch, _MAX_NAME) or self.name
        changes = f"the changes of {self.label} on {branch}"
        return f"{file_text(file)} will conflict with {changes}."

    def to_json(self) -> dict[str, Any]:
        """The conflict shape."""
        return {
            "with": self.label,
            "worktree": self.name,
            "branch": one_line(self.opposite.branch, _MAX_NAME) or None,
            "files": [_file_json(file) for file in self.files[:MAX_FILES]],
        }


def is_recent(radar: Radar, now_ms: int) -> bool:
    """Whether a radar is recent enough to report its conflicts to someone."""
    return now_ms - radar.at_ms <= _MAX_AGE_MS


def conflicts_of(radar: Radar, path: str, now_ms: int) -> tuple[Conflict, ...]:
    """The conflicts to report to the worktree at ``path``: real conflicts with
    worktrees in use. None if the radar is more than an hour old."""
    own = radar.side_at(path)
    if own is None or not is_recent(radar, now_ms):
        return ()
    files: dict[str, list[SharedFile]] = {}
    sides: dict[str, Side] = {}
    for opposite, file in radar.alarms(own, now_ms):
        sides[opposite.name] = opposite
        files.setdefault(opposite.name, []).append(file)
    return tuple(
        Conflict(opposite, tuple(files[name]), radar.at_ms)
        for name, opposite in sides.items()
    )


def load_conflicts(
    layout: Layout, repository: Repository | None, now_ms: int
) -> tuple[Conflict, ...]:
    """The same for a repository's worktree, from the stored radar."""
    if repository is None or not repository.top:
        return ()
    radar = kept.load(layout)
    return () if radar is None else conflicts_of(radar, repository.top, now_ms)


def hot_targets(
    conflicts: Iterable[Conflict], targets: Iterable[ClaimId]
) -> tuple[tuple[str, str], ...]:
    """The targets in which a worktree will conflict, each with a sentence that names
    the other side."""
    return tuple(
        (str(target), conflict.warning(file))
        for target in targets
        for conflict in conflicts
        for file in conflict.files
        if ClaimId(target.path).overlaps(ClaimId(file.path))
    )


class RadarView(NamedTuple):
    """A radar as seen from the worktree ``own``; empty: from outside of all."""

    radar: Radar
    own: str
    env: Mapping[str, str]
    now_ms: int

    @property
    def age(self) -> int:
        """The seconds since it was computed."""
        return elapsed(self.radar.at_ms, self.now_ms)

    @property
    def own_side(self) -> int | None:
        """The viewer's own side."""
        return self.radar.side_at(self.own)

    def display_path(self, side: Side) -> str:
        """The folder of a worktree, as shown in answers."""
        return shown_path(side.path, self.env)

    @property
    def pairs(self) -> list[Pair]:
        """The pairs that share files or could not be compared: those of the viewer's
        worktree first, then those with the most conflicts."""
        own = self.own_side
        shared = [pair for pair in self.radar.pairs if pair.files or pair.problem]
        return sorted(
            shared,
            key=lambda pair: (
                own not in {pair.first, pair.second},
                *(-len(pair.of_kind(kind)) for kind in (HOT, REGISTRY, SOFT)),
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """The radar shape."""
        fields: dict[str, Any] = {
            "at": rfc3339(self.radar.at_ms),
            "age_seconds": self.age,
            "base": self.radar.base or None,
            "worktrees": [self._side_json(side) for side in self.radar.sides],
            "pairs": [self._pair_json(pair) for pair in self.pairs],
        }
        if self.radar.approved:
            fields["approved"] = list(map(_approved_json, self.radar.approved))
        return fields

    def _side_json(self, side: Side) -> dict[str, Any]:
        own = self.own_side
        fields = {
            "name": one_line(side.name, _MAX_NAME),
            "path": self.display_path(side) or None,
            "branch": one_line(side.branch, _MAX_NAME) or None,
            "agent": side.agent or None,
            "here": (own is not None and side is self.radar.sides[own]) or None,
            "problem": one_line(side.problem, _MAX_NAME) or None,
            "left_out": side.left_out or None,
        }
        return {
            **{key: value for key, value in fields.items() if value is not None},
            "file_count": side.file_count,
            "files": [_path(path) for path in side.files[:MAX_FILES]],
        }

    def _pair_json(self, pair: Pair) -> dict[str, Any]:
        first, second = self.radar.sides[pair.first], self.radar.sides[pair.second]
        fields: dict[str, Any] = {
            "left": one_line(first.name, _MAX_NAME),
            "right": one_line(second.name, _MAX_NAME),
            "hot": [_file_json(file) for file in pair.of_kind(HOT)],
            "registries": [_file_json(file) for file in pair.of_kind(REGISTRY)],
            "soft": [_path(file.path) for file in pair.of_kind(SOFT)],
        }
        if pair.problem:
            fields["problem"] = one_line(pair.problem, _MAX_NAME)
        return fields


def _approved_json(branch: ApprovedBranch) -> dict[str, Any]:
    return {
        "topic": one_line(branch.name, _MAX_NAME),
        "branch": one_line(branch.branch, _MAX_NAME),
        "commit": branch.commit,
        "merges": not branch.files,
        "files": [_file_json(file) for file in branch.files[:MAX_FILES]],
    }


def _file_json(file: SharedFile) -> dict[str, Any]:
    fields: dict[str, Any] = {"path": _path(file.path), "conflict": file.conflict}
    if file.symbols:
        fields["symbols"] = list(map(one_line, file.symbols))
    if hint := registries.hint(file.path):
        fields["hint"] = hint
    return fields


def _path(path: str) -> str:
    return one_line(path, _MAX_PATH)


def files_text(files: Sequence[SharedFile], limit: int) -> str:
    """At most ``limit`` of some files in one line, and how many more there are."""
    texts = "; ".join(map(file_text, files[:limit]))
    hidden = len(files) - limit
    return f"{texts}; and {counted(hidden, 'more file')}" if hidden > 0 else texts


def file_text(file: SharedFile) -> str:
    """A file of a pair: its path, and where it will conflict or how it is resolved."""
    facts = [_path(file.path)]
    if file.kind != SOFT and file.conflict not in {"", "contents"}:
        facts.append(one_line(file.conflict))
    if file.symbols:
        facts.append(f"in {', '.join(map(one_line, file.symbols))}")
    if file.kind == REGISTRY:
        facts.append(registries.hint(file.path))
    return " · ".join(facts)
