"""Entries rendered for people at a terminal: markdown, with rich.

A link or an image is shown as text followed by its address and cannot be clicked; HTML
is shown as source. Untrusted text is cleaned before rich sees it.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from rich.cells import chop_cells
from rich.console import Console, Group
from rich.markdown import Heading, Markdown
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.text import Text

from wc_cli.run.terminal import entrytext
from wc_cli.run.widths import left_to_right
from wc_core.base.markdowntokens import DISABLED, MAX_NESTING, is_whole, uncover
from wc_core.base.text import clean, one_line
from wc_core.base.times import ago, ago_and_local, milliseconds, seconds_between
from wc_core.ledger.remarks import wording
from wc_core.ledger.remarks.references import code_words
from wc_core.ledger.threads.model import holder_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markdown_it.token import Token
    from rich.console import ConsoleOptions, RenderableType, RenderResult

    from wc_core.reading.views.entries import Numbered

# Columns (longer lines are harder to read), then characters: a longer body is shown as
# source, and a still longer one without word wrapping. rich takes a second for a
# megabyte, and more than ten for ten.
_WIDTH, _LONGEST, _WRAPPED = 100, 60_000, 500_000
_INDENT = 4


class _Heading(Heading):
    """A heading aligned left, whatever its level."""

    LEVEL_ALIGN = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _Markdown(Markdown):
    """Markdown without clickable links, in which nothing is hidden."""

    elements = {**Markdown.elements, "heading_open": _Heading}  # noqa: RUF012

    def __init__(self, text: str) -> None:
        super().__init__("", code_theme="ansi_dark", hyperlinks=False)
        self.parsed = _PARSER.parse(text)
        self.is_whole = is_whole(self.parsed, text)
        uncover(self.parsed)
        for block in self.parsed:
            if block.type == "html_block":
                block.type = "code_block"
            for token in block.children or ():
                _keep_visible(token)


_PARSER = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
_PARSER.enable(["strikethrough", "table"]).disable(DISABLED)


def _keep_visible(token: Token) -> None:
    """Turn what rich would leave out of a line into text."""
    if token.type == "html_inline":
        token.type = "text"
    elif token.type == "link_open" and "title" in token.attrs:
        href, title = token.attrs["href"], one_line(str(token.attrs["title"]))
        token.attrs["href"] = f'{href} "{title}"'
    elif token.type == "image":
        words, href = one_line(token.content), token.attrs["src"]
        token.type, token.tag, token.children = "text", "", None
        token.content = f"image: {words} ({href})" if words else f"image: {href}"


class Body:
    """The body of an entry; shown as source if it cannot be rendered."""

    def __init__(self, text: str) -> None:
        self._text = clean(text).expandtabs()

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        segments = self._segments(console, options.update(height=None))
        if segments is not None:
            yield Segments(segments)
        elif len(self._text) <= _WRAPPED:
            yield Text(self._text)
        else:
            yield Segments(self._chopped(options.max_width))

    def _chopped(self, width: int) -> Iterator[Segment]:
        """Yield the source in lines that fit."""
        for line in self._text.split("\n"):
            if line.isascii():
                pieces = [line[i : i + width] for i in range(0, len(line), width)]
            else:
                pieces = chop_cells(line, width)
            for piece in pieces or [""]:
                yield Segment(piece)
                yield Segment.line()

    def _segments(
        self, console: Console, options: ConsoleOptions
    ) -> list[Segment] | None:
        """Return the rendered body; ``None`` if it is too long or something would be
        hidden."""
        if len(self._text) > _LONGEST:
            return None
        try:
            body = _Markdown(self._text)
            return list(console.render(body, options)) if body.is_whole else None
        except Exception:  # noqa: BLE001 - if anything fails, the source is shown
            return None


def console_of(env: Mapping[str, str], width: int) -> Console:
    """Return a console that renders for the terminal of standard output and prints
    nothing itself."""
    return Console(
        width=max(20, min(width, _WIDTH)),
        force_terminal=True,
        no_color=bool(env.get("NO_COLOR")),
        highlight=False,
        markup=False,
        emoji=False,
        _environ=dict(env),
    )


def terminal_text(console: Console, renderable: RenderableType) -> str:
    """Return the text to send to the terminal. No line ends in blanks, which would be
    copied with the text."""
    with console.capture() as capture:
        console.print(renderable)
    return "\n".join(line.rstrip(" ") for line in capture.get().split("\n"))


def rendered_entry(numbered: Numbered, now_ms: int, above: str = "") -> RenderableType:
    """Return an entry: author, ball, status, time, role and type; its title, unless it
    is the one ``above`` the entry; its body, indented so that it cannot imitate the
    next entry."""
    item = numbered.entry
    parts: list[RenderableType] = [_Head(numbered, now_ms, above)]
    parts += [Text(one_line(line)) for line in entrytext.labelled_lines(item)]
    if item.body.strip():
        parts.append(Padding(Body(item.body), (1, 0, 0, _INDENT)))
    return Group(*parts)


class _Head:
    """The line of facts about an entry, and the line with its title and its id. Facts
    for which the first line has no room are on the second; the time in this machine's
    zone is shown where there is room for everything."""

    def __init__(self, numbered: Numbered, now_ms: int, above: str) -> None:
        self._numbered = numbered
        self._now_ms = now_ms
        self._above = above

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        item = self._numbered.entry
        line = one_line(item.title)
        line = "" if line == one_line(self._above) else f"{left_to_right(line)}  "
        lead, title = self._lead(), Text(line, style="bold")
        moment_ms = milliseconds(item.at)
        when = exact = one_line(item.at)
        if moment_ms is not None:
            when = ago(seconds_between(moment_ms, self._now_ms))
            exact = ago_and_local(moment_ms, self._now_ms)
        facts = self._facts()
        whole = _joined(lead, [exact, *facts])
        if whole.cell_len <= options.max_width:
            yield whole
            facts = []
        else:
            facts.insert(0, when)
            count = len(facts)
            while count and _joined(lead, facts[:count]).cell_len > options.max_width:
                count -= 1
            yield _joined(lead, facts[:count])
            facts = facts[count:]
        yield title.append(
            " · ".join([*facts, one_line(item.id)]), style="not bold dim"
        )

    def _lead(self) -> Text:
        """Return who wrote the entry, who has the ball then, and the status if it
        changed."""
        item = self._numbered.entry
        text = Text()  # a separate style would apply to all its parts
        text.append(f"#{self._numbered.idx} ", style="dim")
        text.append(one_line(item.agent) or "?", style="bold cyan")
        if item.ball is not None:
            holder = one_line(holder_text(item.ball.holder))
            text.append(" · ", style="dim")
            text.append(f"ball → {holder}", style="bold yellow")
        if item.status:
            text.append(" · ", style="dim")
            text.append(one_line(item.status), style="magenta")
        if self._numbered.is_doubtful(self._now_ms):
            text.append(" · doubtful time", style="red")
        if self._numbered.forked:
            text.append(" · forked", style="red")
        return text

    def _facts(self) -> list[str]:
        """Return the other facts but the time."""
        item = self._numbered.entry
        facts = (
            self._numbered.mark,
            f"corrects {item.supersedes}" if item.supersedes else "",
            wording.role_text(item),
            wording.type_text(item),
            wording.kind_text(item),
            wording.answer_text(item),
            code_words(item),
            self._numbered.way_text,
        )
        return [one_line(fact) for fact in facts if fact]


def _joined(lead: Text, facts: list[str]) -> Text:
    text = lead.copy()
    for fact in facts:
        text.append(f" · {fact}", style="dim")
    return text
