"""The commands about where and who: the store, the identity."""

from __future__ import annotations

from wc_cli.context import say, say_json
from wc_cli.options import command
from wc_cli.writing import Speaker
from wc_core.discovery import BRANCH_STORE, IN_TREE_STORE, NAMED
from wc_core.text import one_line
from wc_core.wording import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context

_KINDS = {
    NAMED: "named by WATERCOOLER_DIR",
    IN_TREE_STORE: "in the code's own tree",
    BRANCH_STORE: "the branch watercooler/threads",
}


class Init(Speaker):
    """Create or adopt the store of this repository."""


class Whoami(Speaker):
    """Show who you are here, and in which store."""


@command(Init)
def init(context: Context, said: Init) -> None:
    """Create or adopt the store."""
    existed = context.ensure_store(anew=True)
    writer = context.writer()
    writer.prepare_store()
    threads = len(writer.reader.topics())
    if said.json:
        kind = context.place.kind
        say_json({"store": context.store, "kind": kind, "threads": threads})
        return
    word = "The store was there already" if existed else "The store is ready"
    say(f"{word}: {context.store} ({counted(threads, 'thread')})")


@command(Whoami)
def whoami(context: Context, said: Whoami) -> None:
    """Show who you are."""
    identity = context.identity
    context.remember()
    name = identity.name
    if said.json:
        fields = {
            "name": identity.author,
            "agent": name.agent,
            "seat": name.seat or None,
            "tag": name.tag or None,
            "source": identity.source,
            "store": context.store,
            "kind": context.place.kind,
        }
        say_json(fields)
        return
    kind = _KINDS.get(context.place.kind, "outside git")
    made = "" if context.place.exists else ", not made yet"
    say(one_line(f"{identity.author} (by {identity.source})"))
    say(one_line(f"store: {context.store} ({kind}{made})"))
