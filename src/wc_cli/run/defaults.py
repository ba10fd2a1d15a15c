"""The default options that a person has chosen for reading commands.

They apply only at a terminal, and not for agents, hooks or JSON output: programs read
the same for everyone.
"""

from __future__ import annotations

import os
import sys

from wc_cli.run import table
from wc_cli.run.options import FLAG
from wc_core.ledger.configuration import preferences
from wc_core.people.identity import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The speaker and the form of the answer are not preferences.
_EXCLUDED = frozenset({"--as", "--seat", "--json", "--hook"})


def with_defaults(argv: Sequence[str], env: Mapping[str, str]) -> Sequence[str]:
    """The command line, with the person's default options before the typed ones, which
    override them."""
    if not argv or not sys.stdout.isatty() or {"--json", "--hook"} & set(argv):
        return argv
    path = preferences.path_of(env)
    if not path or not os.path.exists(path):
        return argv
    if next(environment.agents_in(env), None) is not None:
        return argv
    name = table.ALIASES.get(argv[0], argv[0])
    words = preferences.load(env).defaults.get(name, ())
    if any(refusal(name, word) for word in words):
        return argv  # `wc config --global` names it
    return [argv[0], *words, *argv[1:]]


def refusal(name: str, word: str) -> str:
    """The reason why a word cannot be a default of a command; empty if it can."""
    command = table.COMMANDS.get(name)
    declared = table.load(name)
    if command is None or declared is None:
        return f"there is no command {name!r}"
    if command.panel != table.READING:
        return f"wc {name} is not a command that only reads"
    option = word.partition("=")[0]
    params = declared.options.params()
    flags = {spelling: param for param in params for spelling in param.flags}
    if option not in flags or option in _EXCLUDED:
        return f"{word!r} is not an option of wc {name} that can be preferred"
    if (flags[option].kind == FLAG) == ("=" in word):
        example = "--open" if "=" in word else "--limit=20"
        return f"{word!r} is not written like {example}"
    return ""
