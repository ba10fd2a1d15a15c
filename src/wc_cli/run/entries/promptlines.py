"""Makes the lines that the prompt prints, and keeps them in the store for
``bin/wc-statusline``, see `wc_core.attention.status.keptlines`.

The script asks for a line where none is kept that is current. The background process of
a write makes all of them again, so that prompts rarely have to.
"""

from __future__ import annotations

import os
import time

from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import durable
from wc_cli.ledger.store.localfiles import LineStamp
from wc_cli.run.context import Context
from wc_core.attention.status import conflictmarks, elsewhere, keptlines
from wc_core.attention.status.balls import Balls
from wc_core.attention.status.conflictmarks import ShownConflict
from wc_core.attention.status.keptlines import STAMP, KeptLine, LineRequest
from wc_core.attention.status.line import LinePlace, Mark, line_of, loop_mark
from wc_core.attention.status.linethreads import LineSource
from wc_core.attention.status.look import MAX_ROWS, LineStyle, link_prefix
from wc_core.attention.status.pins import surroundings
from wc_core.attention.status.places import Surroundings, worktree_places
from wc_core.base import agents, sandboxes
from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.people import activity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.ledger.git.repository import Repository
    from wc_core.people.identity.viewer import Viewer

# The name, the key and the root that the script made, each on a line.
_ASKED_LINES = 3
# What decides who looks, apart from files: names, of which a kept line may have others
# than the process that makes it again,
_NAMES = (
    *("WATERCOOLER_AGENT", "WATERCOOLER_USER", "WATERCOOLER_SEAT"),
    *(variable for variable, _ in agents.VARIABLES),
    *agents.SESSION_VARIABLES,
    *(agents.CONVENTION, agents.OLDER_CONVENTION[0]),
    *(sandboxes.VARIABLE, *(sandbox.variable for sandbox in sandboxes.SANDBOXES)),
)
# and where files are read, which must be the same: a store may come with code.
_PLACES = (
    *("HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "WATERCOOLER_DIR"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
)
# A line that nobody asked for within a week is not made again.
_WANTED_SECONDS = 7 * 24 * 3600
_MOST_LINES = 64


class _Basis(NamedTuple):
    """What a line was made from: the first line of its file, and when the newest of the
    files changed that others than wc change."""

    first: str
    newest_ns: int


class PromptLines:
    """The lines of one store in one environment and folder. ``context`` has a store."""

    def __init__(self, context: Context) -> None:
        self.context = context
        # First: it notes the name of the seat, on which a line depends.
        self.reader = context.reader
        self.layout = Layout(context.place.root)
        self.repository: Repository | None = context.place.repository

    @property
    def viewer(self) -> Viewer | None:
        """Who looks; ``None`` if the environment has a name that nobody can have."""
        try:
            return self.context.viewer
        except InvalidInputError:
            return None

    def texts(self, *styles: LineStyle) -> list[str]:
        """The line in each of these styles."""
        context, layout = self.context, self.layout
        viewer = self.viewer
        if viewer is None:
            directory = context.settings.directory
            around = Surroundings(worktree_places(self.repository), None, directory)
        else:
            around = surroundings(layout, self.repository, viewer)
        source = LineSource(
            Balls(self.reader, context.settings.directory), viewer, around
        )
        rows = max(style.rows for style in styles)
        threads = source.threads(min(max(rows, 1), MAX_ROWS))
        place = LinePlace(
            around,
            self._loop_mark(),
            self._conflict().text,
            elsewhere.load(layout, viewer.key) if viewer is not None else 0,
            source.to_land(),
        )
        return [
            line_of(
                threads, place, style._replace(links=self._link_prefix(style.links))
            )
            for style in styles
        ]

    def text(self, style: LineStyle, request: LineRequest | None) -> str:
        """The line in a style. If it was requested by the script, it is kept if that is
        possible: a store may be read-only."""
        if request is None:
            return self.texts(style)[0]
        basis = None
        with contextlib.suppress(WcError, OSError):
            basis = self._basis(make_stamp=True)
        text, painted = self.texts(style, _style_of(request))
        with contextlib.suppress(WcError, OSError):
            self._make_room()
            self._keep(basis, request, painted)
        return text

    def make_again(self, kept: KeptLine) -> None:
        """Make a kept line again if it is not current. Raises WcError and OSError."""
        basis = self._basis(make_stamp=True)
        path = f"{self.layout.lines}/{kept.request.name}"
        is_current = (
            basis is not None
            and basis.first == kept.first
            and keptlines.newest_ns(iter((path,))) >= basis.newest_ns
        )
        if basis is not None and not is_current:
            (painted,) = self.texts(_style_of(kept.request))
            self._keep(basis, kept.request, painted)

    def _keep(self, basis: _Basis | None, request: LineRequest, painted: str) -> None:
        """Keep a line that was made on a basis, unless that has changed meanwhile.
        Raises WcError and OSError."""
        if basis is None or self._basis() != basis:
            return
        logs = self._conflict().logs
        data = keptlines.encode(basis.first, request, painted, logs)
        if data is None:
            return
        path, root = f"{self.layout.lines}/{request.name}", self.layout.root
        durable.make_folder(self.layout.lines, root, flush=False)
        durable.replace(path, data, root)
        times = (basis.newest_ns, basis.newest_ns)
        os.utime(path, ns=times, follow_symlinks=False)

    def _make_room(self) -> None:
        """Remove all lines if there are too many, such as one for each of many
        sessions. Raises WcError and OSError."""
        names = names_in(self.layout.lines, self.layout.root)
        if len(names) > 2 * _MOST_LINES:
            for name in names:
                if name != STAMP:
                    durable.remove(f"{self.layout.lines}/{name}", self.layout.root)

    def _basis(self, *, make_stamp: bool = False) -> _Basis | None:
        """What a line depends on now; ``None`` if it cannot be kept: without a stamp,
        during a rebase, and where a loop runs, whose state changes with the time."""
        top = self.repository.top if self.repository else ""
        if top and os.path.lexists(activity.loop_path(top)):
            return None
        stamp = LineStamp(self.layout)
        text = stamp.ensure() if make_stamp else stamp.read()
        if not text:
            return None
        facts = keptlines.facts(self.layout, self.repository)
        if not facts:
            return None
        sources = keptlines.sources(self.layout, self.repository, self.context.env)
        return _Basis(f"{text} {facts}", keptlines.newest_ns(sources))

    def _conflict(self) -> ShownConflict:
        if self.repository is None:
            return ShownConflict()
        return conflictmarks.load(self.layout, self.repository)

    def _link_prefix(self, links: str) -> str:
        return link_prefix(links, self.layout.pages)

    def _loop_mark(self) -> Mark:
        """The line's mark for the loop in a worktree."""
        top = self.repository.top if self.repository else ""
        if not top or not os.path.lexists(activity.loop_path(top)):
            return Mark()
        return loop_mark(activity.loop(activity.StateFiles(), top, now_ms()))


def _style_of(request: LineRequest) -> LineStyle:
    return LineStyle(
        columns=request.columns,
        ascii=request.ascii,
        color=True,
        rows=request.rows,
        links=request.links,
        format=request.template,
    )


def request_of(context: Context, style: LineStyle, text: str) -> LineRequest | None:
    """The request of the script that started this command, from its ``text``;
    ``None`` if it was started by someone else, or nothing can be kept under the
    key."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) != _ASKED_LINES:
        return None
    name, key, root = lines
    request = LineRequest(
        name,
        key,
        root,
        at=int(time.time()),
        folder=context.cwd,
        ascii=style.ascii,
        rows=style.rows,
        links=style.links,
        template=style.format,
        columns=style.columns,
        env=_of(context.env, (*_NAMES, *_PLACES)),
    )
    return request if request.is_usable else None


def remake(root: str, env: Mapping[str, str]) -> None:
    """Make the kept lines of a store again that are not current, and remove those that
    are no longer asked for. Of the environment, only names of participants are taken
    from their files, which may have come with code. Failures are left to the prompt,
    which makes the line."""
    layout = Layout(root)
    with contextlib.suppress(WcError, OSError):
        names = [name for name in names_in(layout.lines, root) if name != STAMP]
        lines = {name: _read(layout, name) for name in names}
        oldest = int(time.time()) - _WANTED_SECONDS
        names.sort(key=lambda name: lines[name].request.at, reverse=True)
        for position, name in enumerate(names):
            kept = lines[name]
            is_wanted = position < _MOST_LINES and kept.request.at > oldest
            if not (is_wanted and os.path.isdir(kept.request.folder)):
                durable.remove(f"{layout.lines}/{name}", root)
                continue
            with contextlib.suppress(WcError, OSError):
                _remake_line(layout, kept, env)


_DAMAGED = KeptLine("", LineRequest("", "", ""))


def _read(layout: Layout, name: str) -> KeptLine:
    """Read a kept line; one that is not asked for if it is damaged."""
    with contextlib.suppress(OSError):
        path = f"{layout.lines}/{name}"
        data = read_plain(path, layout.root, keptlines.MAX_BYTES) or b""
        kept = keptlines.decode(data)
        if kept is not None and kept.request.name == name:
            return kept
    return _DAMAGED


def _remake_line(layout: Layout, kept: KeptLine, env: Mapping[str, str]) -> None:
    """Make one line again. Raises WcError and OSError."""
    folder, asked = kept.request.folder, kept.request.env
    own = _of(Context(env, folder).env, _PLACES)
    if not os.path.isabs(folder) or own != _of(asked, _PLACES):
        return
    own |= {"PATH": env.get("PATH", ""), "WATERCOOLER_SYNC": "off"}
    own |= {"WATERCOOLER_DETECT": "off"}
    context = Context({**_of(asked, _NAMES), **own}, folder)
    if context.place.exists and context.place.root == layout.root:
        PromptLines(context).make_again(kept)


def _of(env: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the part of an environment with these names."""
    return {name: env[name] for name in names if name in env}
