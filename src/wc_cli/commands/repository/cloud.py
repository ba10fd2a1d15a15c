"""``wc cloud``: what to paste where, so that agents elsewhere have wc."""

from __future__ import annotations

from wc_cli.agents.cloud import places
from wc_cli.run.options import Options, argument, command
from wc_cli.run.output import remark, say, say_exact, say_json
from wc_core.base.errors import InvalidInputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_WIDTH = 13


class CloudOptions(Options):
    """Print the file with which agents in the cloud or in a container get wc, and where
    it goes."""

    place: str = argument("PLACE", "A place; without one, they are listed.", default="")


@command(CloudOptions)
def cloud(context: Context, options: CloudOptions) -> None:
    """Print what to paste where."""
    if not options.place:
        if options.json:
            rows = [{"place": row.word, "name": row.name} for row in places.PLACES]
            say_json({"places": rows})
            return
        for row in places.PLACES:
            say(f"{row.word:<{_WIDTH}} {row.name}")
        remark("The file for one of them, and where it goes: wc cloud PLACE")
        return
    place = places.find(options.place)
    if place is None:
        words = ", ".join(row.word for row in places.PLACES)
        raise InvalidInputError(
            f"{options.place!r} is not a place.", f"One of: {words}"
        )
    text = places.filled(place, context.place.repository, context.env)
    if options.json:
        say_json({"place": place.word, "target": place.target, "file": text})
        return
    say_exact(text.rstrip("\n"))
    remark(f"It goes to: {place.target}")
    for step in place.steps:
        remark(step)
    if "OWNER/REPOSITORY" in text:
        remark("Fill in OWNER/REPOSITORY.")
