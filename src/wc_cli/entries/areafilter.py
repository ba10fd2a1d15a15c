"""The filter for the threads of an area."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wc_cli.context import Context
    from wc_core.views.overview import Overview
    from wc_core.views.rows import Filter


def in_area(
    context: Context, overview: Overview, area: str, criteria: Filter
) -> Filter:
    """The filter, for threads of an area alone. Raises InvalidInputError if there is no
    such area."""
    from wc_core.areas import threads  # 2 ms, only to ask for an area

    areas = context.settings.areas
    area = threads.checked(area, areas)
    areas_of = threads.ThreadAreas(overview.reader, areas).of(overview.rows())
    topics = {topic for topic, names in areas_of.items() if area in names}
    if criteria.topics is not None:
        topics &= set(criteria.topics)
    return criteria._replace(topics=frozenset(topics))
