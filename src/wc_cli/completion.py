"""Shell completion: the scripts for the shells, and the words they offer.

Typer determines the next word and implements each shell's protocol. The scripts are
ours, because Typer's run ``wc`` without a command: that is the system's ``wc``, which
would wait for input.
"""

from __future__ import annotations

import os

from wc_cli import table
from wc_cli.context import Context
from wc_core.errors import WcError
from wc_core.threads.model import ENTRY_TYPES, KINDS, ROLES, SEVERITIES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Set by the scripts: the shell, and what it requests.
VARIABLE = "_WC_CLI_COMPLETE"

# The keys of `wc list --sort`; a test compares them with the command's own.
LIST_ORDERS = ("recent", "age", "topic", "ball", "status", "title")
# The words of the server's command line; a test compares them with its help.
_OBSERVE = (
    "web --transport --all --all-stores --graph --tools --help --version --port --host "
    "--as --open --thread"
)

# Bash ends a word at each @, which is common in names: the parts are joined, and the
# part from the @ on is offered.
_BASH = f"""\
_wc_completion() {{
    local IFS=$'\\n' line=$COMP_LINE last='' gap='' word='' n=-1 i=0
    local words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${{COMP_WORDS[i]}} gap=${{line%%[! ]*}}
        if [[ -n $COMP_LINE && -z $gap && ( $word == @* || $last == *@ ) ]]; then
            words[n]+=$word
        else
            words[++n]=$word
        fi
        line=${{line#"$gap"}} line=${{line#"$word"}} last=$word
    done
    COMPREPLY=( $( COMP_WORDS="${{words[*]}}" COMP_CWORD=$n \\
                   {VARIABLE}=complete_bash $1 completion bash \\
                   2>/dev/null </dev/null ) )
    last=${{words[n]}}
    if [[ $COMP_WORDBREAKS == *@* && -n $COMP_LINE && $last == *@* ]]; then
        last=${{last%"@${{last##*@}}"}}
        for i in "${{!COMPREPLY[@]}}"; do
            COMPREPLY[i]=${{COMPREPLY[i]#"$last"}}
        done
    fi
}}
complete -o default -F _wc_completion wc wc-cli
complete -o default -W '{_OBSERVE}' wc-observe
"""

_ZSH = f"""\
#compdef wc wc-cli

_wc_completion() {{
    eval "$(_TYPER_COMPLETE_ARGS="${{words[1,$CURRENT]}}" \\
            {VARIABLE}=complete_zsh $words[1] completion zsh 2>/dev/null </dev/null)"
}}
_wc_observe_completion() {{
    compadd -- {_OBSERVE}
}}
compdef _wc_completion wc wc-cli
compdef _wc_observe_completion wc-observe
"""

_FISH_ASKS = (
    f"env {VARIABLE}=complete_fish _TYPER_COMPLETE_FISH_ACTION={{}}-args "
    "_TYPER_COMPLETE_ARGS=(commandline -cp) wc completion fish 2>/dev/null </dev/null"
)
_FISH = "".join(
    f'complete --command {name} --no-files --arguments "({_FISH_ASKS.format("get")})" '
    f'--condition "{_FISH_ASKS.format("is")}"\n'
    for name in ("wc", "wc-cli")
)
_FISH += "complete --command wc-observe --no-files --arguments web\n"
_FISH += "".join(
    f"complete --command wc-observe --long-option {word.removeprefix('--')}\n"
    for word in _OBSERVE.split()
    if word.startswith("--")
)

# The shells' protocols quote these badly or not at all, and the completed word is
# evaluated. Names with one of them are not offered, but can be typed.
_TAKEN_BY_SHELLS = frozenset("\\\"'`$;&|<>*?[]{}!#^~")

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completer(kind: str) -> Callable[[str], list[str]] | None:
    """Return the function that Typer calls for words of this kind, if there is one."""
    if not kind:
        return None

    def complete(incomplete: str) -> list[str]:
        try:
            words = _WORDS[kind]()
        except (WcError, OSError):
            return []  # errors do not belong in a prompt
        return [
            word
            for word in words
            if word.casefold().startswith(incomplete.casefold()) and _is_harmless(word)
        ]

    return complete


def _is_harmless(word: str) -> bool:
    """Return whether terminals and shells treat it as a plain word."""
    return word.isprintable() and _TAKEN_BY_SHELLS.isdisjoint(word)


def _topics() -> list[str]:
    return _stored_topics(_context())


def _agents() -> list[str]:
    context = _context()
    people: dict[str, None] = {}
    for topic in _stored_topics(context):
        try:
            people.update(dict.fromkeys(context.reader.snapshot(topic).state.people))
        except WcError:
            continue  # one damaged thread must not hide the names in others
    aliases = context.settings.directory.aliases.values()
    return [*dict.fromkeys((*people, *aliases)), "anyone", "me"]


def _stored_topics(context: Context) -> list[str]:
    """The topics of the store. Completing a word must not check a store out."""
    return context.reader.topics() if context.place.exists else []


def _context() -> Context:
    return Context(dict(os.environ), os.getcwd())


_WORDS: dict[str, Callable[[], Sequence[str]]] = {
    "topic": _topics,
    "topic or status": lambda: [*_topics(), *STATUSES],
    "agent": _agents,
    "status": lambda: STATUSES,
    "role": lambda: ROLES,
    "type": lambda: ENTRY_TYPES,
    "kind": lambda: KINDS,
    "severity": lambda: SEVERITIES,
    "list order": lambda: LIST_ORDERS,
    "search order": lambda: ("best", "newest"),
    "command": lambda: list(table.COMMANDS),
    "shell": lambda: list(SCRIPTS),
}
