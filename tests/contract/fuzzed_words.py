"""Random command lines for `wc`, each at a small store of its own."""

from __future__ import annotations

import os
import re
import shutil
from random import Random
from typing import TYPE_CHECKING

from tests.contract import mutants
from tests.contract.inprocess import surroundings, wc
from wc_cli.run import table
from wc_core.base.layout import Layout
from wc_core.ledger.threads import codec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# docs/commands.md; 1 would be a bug of ours.
CODES = frozenset({0, 2, 3, 4, 5, 6, 7, 8, 9, 10})
# What ends only when someone else acts: a command, or one of its flags. `demo` takes
# its time, and makes stores of its own.
_ENDLESS = {"demo": "", "open": "", "run": "", "wait": "", "inbox": "--watch"}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_VALUES = (
    *("auth", "AUTH", "new-one", "me", "anyone", "Codex", "OPEN", "CLOSED", "Note"),
    *("-", "@x", "@@x", "0", "1", "-1", "999999999999999999999", "24h", "2026-01-01"),
    *(
        "always",
        "bash",
        "zsh",
        "list",
        "--",
        "-x",
        "--=",
        "---",
        "--json",
        "implementer",
    ),
)


def _commands() -> dict[str, tuple[str, ...]]:
    """Every command with its flags, without those that do not end by themselves."""
    found = {}
    for name in (*table.COMMANDS, *table.ALIASES, "", "no-such"):
        declared = table.load(name)
        params = declared.options.params() if declared else ()
        found[name] = ("--help", *(one for param in params for one in param.flags))
    for name, flag in _ENDLESS.items():
        if flag:
            found[name] = tuple(word for word in found[name] if word != flag)
        else:
            del found[name]
    return found


class Words:
    """A random command line is carried out or refused, and never a bug."""

    def __init__(self) -> None:
        self._known = _commands()

    def __call__(self, random: Random, folder: Path) -> None:
        """One case."""
        self.run(self._argv(random), folder)

    def ordinary(self) -> Iterator[list[str]]:
        """Yield every command alone, with a thread, and with each of its flags."""
        for name, flags in sorted(self._known.items()):
            yield from ([name], *([name, word] for word in ("auth", *flags)))

    def run(self, argv: list[str], folder: Path) -> None:
        """Run a command line at a new store, and check how it ends."""
        store = folder / "store"
        _fill(store)
        done = wc(argv, folder, surroundings(folder, store))
        said = done.out + done.err
        assert done.code in CODES, (argv, done)
        assert "Traceback" not in said, argv
        shown = _COLOURS.sub("", said) if "--color" in " ".join(argv) else said
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown), argv

    def _argv(self, random: Random) -> list[str]:
        name = random.choice(sorted(self._known))
        flags = self._known[name]
        words = [name] if name or random.randrange(2) else []
        for _ in range(random.randint(0, 6)):
            kind = random.randrange(5)
            if kind == 0:
                words.append(mutants.text(random, 4))
            elif kind == 1:
                joined = f"={random.choice(_VALUES)}" if random.randrange(2) else ""
                words.append(random.choice(flags) + joined)
            else:
                words.append(random.choice(_VALUES))
        # No process can be given anything else.
        raw = (one.replace("\0", "").replace("\ud800", "\udcfe") for one in words)
        return [os.fsdecode(os.fsencode(one)) for one in raw]


def _fill(store: Path) -> None:
    shutil.rmtree(store, ignore_errors=True)
    layout = Layout(str(store))
    os.makedirs(layout.folder("auth"))
    os.makedirs(layout.pages)
    with open(layout.log("auth"), "wb") as log:
        entries = mutants.entries(Random("auth"), 3)
        log.writelines(codec.to_line(one, 0) for one in entries)
