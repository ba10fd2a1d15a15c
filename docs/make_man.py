"""The manual pages, from the same declarations as docs/commands.md.

The command's page is wc-cli(1), so that `man wc` still shows the system's page, as
`wc -l` still counts lines. Written in man(7), which every formatter understands.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

import make_reference as reference  # noqa: E402 (beside this script)
import reference_words as words  # noqa: E402

from wc_core.base import errors, version  # noqa: E402 (the checkout's own)
from wc_observe.http import options  # noqa: E402
from wc_observe.web import options as weboptions  # noqa: E402

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from wc_cli.run.options import Param

FOLDER = ROOT / "docs" / "man"
# The date of the texts in this file.
DATE = "2026-11-22"

_SEE = "The documentation in the source repository has everything else."

WC = """\
.B wc
is for people who run several coding agents in several git worktrees. Work is
discussed in threads; each thread has one ball, and its holder makes the next move.
.PP
.B wc
and
.B wc-cli
are the same, with one exception: a command line that does not begin with a command
listed here, or whose words are all names of existing files, is passed by
.B wc
to the system's
.BR wc (1),
which counts words. This page is called wc-cli so that
.B man wc
still shows the system's page.
.PP
Every command works from any folder of any worktree of a repository. Results go to
standard output, everything else to standard error. Options may be anywhere in the line;
after
.B \\-\\-
nothing is an option.
"""

OBSERVE = """\
Serves threads to agents, over standard input and output, or over HTTP with an option.
It is read-only: to write, run
.BR wc-cli (1).
Without options, as MCP clients start it, it serves the store of the client's folder.
.PP
As
.B wc-observe web
it shows them to people, in a browser, on their own machine only.
"""

STATUSLINE = """\
Prints one line: whose move it is in the worktree of the current folder. It always
exits 0; without a store, it prints nothing. For the usual line it starts no other
process; for rows, links, templates and loops it runs
.BR wc-cli (1).
"""


def escaped(text: str) -> str:
    """Return the text escaped for roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"(?m)^\.", r"\\&.", text)


def prose(markdown: str) -> str:
    """Convert markdown: links name their file, code becomes bold."""
    paragraphs = re.split(r"\n[ \t]*\n", markdown.strip())
    return "\n.PP\n".join(map(_paragraph, paragraphs))


def _paragraph(markdown: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\(([^)]*)\)", _linked, " ".join(markdown.split()))
    text = re.sub(r"\*(\w+)\*", r"\1", text)
    parts = escaped(text).split("`")
    return "".join(f"\\fB{one}\\fR" if at % 2 else one for at, one in enumerate(parts))


def _linked(link: re.Match[str]) -> str:
    """Return the text of a link, with the file of another page."""
    text, target = link[1], link[2].partition("#")[0]
    return f"{text} (docs/{target})" if target else text


def head(name: str, what: str) -> str:
    """The head of a page."""
    title = f'.TH {name.upper()} 1 {DATE} "Watercooler {version.__version__}"'
    start = [f"{title} Watercooler", ".ad l", ".nh"]
    lines = [*start, ".SH NAME", f"{name} \\- {what}"]
    return "".join(f"{line}\n" for line in lines)


def item(term: str, text: str) -> str:
    """A term and its meaning."""
    return f".TP\n{term}\n{prose(text)}\n"


def option(param: Param) -> str:
    """An option or argument with its help."""
    flags = ", ".join(f"\\fB{escaped(one)}\\fR" for one in param.flags)
    value = f"\\fI{escaped(param.metavar)}\\fR" if param.metavar else ""
    default = param.default if isinstance(param.default, str) else ""
    text = f"{param.help} Default: `{default}`." if default else param.help
    return item(" ".join(one for one in (flags, value) if one), text)


def commands() -> Iterator[str]:
    """Each command under the heading of its panel."""
    for panel, names in reference.panels().items():
        yield f".SH COMMANDS: {panel.upper()}\n"
        for name in names:
            declared = reference.declared(name)
            yield f".SS {escaped(reference.usage(name, declared))}\n"
            also = [f"`wc {alias}`" for alias in reference.aliases(name)]
            others = f" Also written {' or '.join(also)}." if also else ""
            yield f"{prose(reference.sentence(declared) + others)}\n"
            if name in words.REMARKS:
                yield f".PP\n{prose(words.REMARKS[name])}\n"
            yield from map(option, declared.own())
            lines = (*words.EXAMPLES.get(name, ()), *words.ENDLESS.get(name, ()))
            yield examples(lines)


def examples(lines: Iterable[str]) -> str:
    """A block of commands."""
    text = "".join(f"{escaped(line)}\n" for line in lines)
    return f".PP\n.RS\n.nf\n{text}.fi\n.RE\n" if text else ""


def shared() -> Iterator[str]:
    """The options that many commands have."""
    for group, params in reference.declared("say").groups().items():
        yield f".SH {group.upper()}\n{prose(reference.SHARED[group])}\n"
        yield from map(option, params)


def statuses() -> Iterator[str]:
    """The exit statuses."""
    yield ".SH EXIT STATUS\n"
    yield item("\\fB0\\fR", "done")
    yield item(f"\\fB1\\fR {errors.WcError.code}", "a bug, with the path of a report")
    for kind in sorted(errors.WcError.__subclasses__(), key=lambda one: one.exit_code):
        term = f"\\fB{kind.exit_code}\\fR {escaped(kind.code)}"
        yield item(term, inspect.getdoc(kind) or "")
    yield item("\\fB130\\fR", "interrupted")


def environment() -> Iterator[str]:
    """The variables, from the table of the reference."""
    yield ".SH ENVIRONMENT\n"
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", words.ENVIRONMENT, re.MULTILINE)
    for name, text in rows:
        yield item(f"\\fB{name}\\fR", text)


def see_also(*names: str) -> str:
    """References to other pages."""
    said = ",\n".join(f".BR {one} (1)" for one in names)
    return f".SH SEE ALSO\n{said}\n.PP\n{_SEE}\n"


def wc_page() -> str:
    """wc-cli(1)."""
    return "".join(
        [
            head("wc-cli", "threads with one ball each, for agents in git worktrees"),
            ".SH SYNOPSIS\n.B wc\n.I COMMAND\n.RI [ OPTION ...]\n.br\n",
            ".B wc-cli\n.I COMMAND\n.RI [ OPTION ...]\n",
            f".SH DESCRIPTION\n{WC}",
            *commands(),
            *shared(),
            *statuses(),
            *environment(),
            see_also("wc-observe", "wc-statusline", "wc", "git-worktree"),
        ]
    )


def observe_page() -> str:
    """wc-observe(1)."""
    return "".join(
        [
            head("wc-observe", "read-only MCP server for the threads of wc"),
            ".SH SYNOPSIS\n.B wc-observe\n.br\n",
            ".B wc-observe \\-\\-transport http\n.RI [ OPTION ...]\n.br\n",
            ".B wc-observe web\n.RI [ OPTION ...]\n",
            f".SH DESCRIPTION\n{OBSERVE}",
            ".SH OPTIONS\n",
            *server_options(options.parser()),
            ".SH OPTIONS OF WEB\n",
            *server_options(weboptions.parser()),
            see_also("wc-cli", "wc-statusline"),
        ]
    )


def server_options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a parser, except for help."""
    # argparse has no other way to ask.
    known = parser._option_string_actions  # noqa: SLF001
    for action in dict.fromkeys(known.values()):
        if "-h" not in action.option_strings:
            yield http_option(action)


def http_option(action: argparse.Action) -> str:
    """An option of the server."""
    values = "|".join(map(str, action.choices)) if action.choices else ""
    value = values or action.metavar or ("" if action.nargs == 0 else "VALUE")
    term = f"\\fB{escaped(action.option_strings[-1])}\\fR \\fI{escaped(str(value))}\\fR"
    return item(term, action.help or "How to be reached.")


def statusline_page() -> str:
    """wc-statusline(1), with the options from the script's comment."""
    script = (ROOT / "bin" / "wc-statusline").read_text(encoding="utf-8")
    comment = script.partition("\n# --- the command line ---")[2].partition("\n\n")[0]
    option = re.compile(r"^# (--[\w-]+)([= ]\w+)? +(.*(?:\n#  {6,}.*)*)", re.MULTILINE)
    rows = option.findall(comment)
    return "".join(
        [
            head("wc-statusline", "whose move it is in this worktree, in one line"),
            ".SH SYNOPSIS\n.B wc-statusline\n.RI [ OPTION ...]\n",
            f".SH DESCRIPTION\n{STATUSLINE}",
            ".SH OPTIONS\n",
            *(
                item(f"\\fB{escaped(name)}\\fR{escaped(value)}", text.replace("#", ""))
                for name, value, text in rows
            ),
            see_also("wc-cli", "wc-observe"),
        ]
    )


def pages() -> dict[Path, str]:
    """Each page with its path."""
    return {
        FOLDER / "wc-cli.1": wc_page(),
        FOLDER / "wc-observe.1": observe_page(),
        FOLDER / "wc-statusline.1": statusline_page(),
    }
