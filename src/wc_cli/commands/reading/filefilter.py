"""Finds the threads about a file, for lists limited to them."""

from __future__ import annotations

from wc_cli.run.entries.paths import searched_path
from wc_core.lookup.mentions import Mentions
from wc_core.reading.views.search.answers import threads_about

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.reading.views.overview import Overview


def threads_about_file(
    context: Context, overview: Overview, path: str
) -> tuple[frozenset[str], list[str]]:
    """Return the topics of the threads with an entry that mentions the file or folder
    at ``path``, and of those that could not be searched. Raises InvalidInputError for a
    path outside the repository."""
    engine = context.search_engine(overview)
    topics, matches = threads_about(engine, Mentions(searched_path(path, context)))
    return topics, list(matches.unreadable)
