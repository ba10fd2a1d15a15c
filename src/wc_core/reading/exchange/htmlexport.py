"""Threads as one web page without scripts or other files. Texts are shown as they were
written: everything in them is escaped."""

from __future__ import annotations

from html import escape

from wc_core.base.phrases import counted
from wc_core.base.text import clean, one_line
from wc_core.ledger.threads.model import holder_text
from wc_core.ledger.threads.revisions import revisions
from wc_core.ledger.threads.ways import via_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_core.ledger.threads.reader import Thread
    from wc_core.ledger.threads.revisions import Revision

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body{{margin:1rem auto;max-width:50rem;padding:0 1rem;
font:16px/1.5 ui-sans-serif,system-ui,sans-serif;background:#fff;color:#1f2328}}
h1{{font-size:1.4rem}}h2{{font-size:1.05rem;margin:0}}
article{{border-top:1px solid #8886;padding:.8rem 0}}
p{{margin:.2rem 0;opacity:.75}}
pre{{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit;margin:.5rem 0 0}}
@media (prefers-color-scheme:dark){{body{{background:#0d1117;color:#e6edf3}}}}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(threads: Iterable[Thread]) -> str:
    """The page with all threads in sequence."""
    exported = list(threads)
    names = [one_line(thread.state.name) for thread in exported]
    title = names[0] if len(names) == 1 else counted(len(names), "thread")
    body = "\n".join(line for thread in exported for line in _thread_lines(thread))
    return _PAGE.format(title=escape(title), body=body)


def _thread_lines(thread: Thread) -> Iterator[str]:
    state = thread.state
    facts = [state.name, state.status, f"ball: {holder_text(state.ball)}"]
    yield f"<section>\n<h1>{_line(state.title or state.name)}</h1>"
    yield f"<p>{_line(' · '.join([*facts, *thread.snapshot.tags]))}</p>"
    for revision in revisions(thread.entries):
        yield from _entry_lines(revision)
    yield "</section>"


def _entry_lines(revision: Revision) -> Iterator[str]:
    entry = revision.entry
    kinds = [entry.kind or entry.type, entry.severity, entry.role]
    facts = [f"#{revision.idx}", entry.agent, entry.at, *filter(None, kinds)]
    if revision.corrections and not revision.retracted:
        facts.append("amended")
    if entry.via:
        facts.append(via_text(entry.via))
    yield f'<article id="{_line(entry.id)}">\n<h2>{_line(entry.title)}</h2>'
    yield f"<p>{_line(' · '.join(facts))}</p>"
    if entry.body:
        yield f"<pre>{escape(clean(entry.body))}</pre>"
    yield "</article>"


def _line(text: str) -> str:
    return escape(one_line(text))
