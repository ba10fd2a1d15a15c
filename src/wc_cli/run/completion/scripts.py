"""The completion scripts for the shells. They call ``wc completion SHELL`` with the
line in variables; `wc_cli.run.completion.answers` answers.

The variables have the names that Typer gave them, because people keep the scripts of
earlier versions in their shells' folders.
"""

from __future__ import annotations

# Set by the scripts: the shell, and what it requests.
VARIABLE = "_WC_CLI_COMPLETE"

# The words of the server's command line; a test compares them with its help.
_OBSERVE = (
    "web --transport --all --all-stores --graph --help --version --port --host "
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
# Participants come first. bash before 4.4 sorts what is offered.
complete -o default -o nosort -F _wc_completion wc wc-cli 2>/dev/null ||
    complete -o default -F _wc_completion wc wc-cli
complete -o default -W '{_OBSERVE}' wc-observe
"""

_ZSH = f"""\
#compdef wc wc-cli wc-observe

_wc_completion() {{
    eval "$(_TYPER_COMPLETE_ARGS="${{words[1,$CURRENT]}}" \\
            {VARIABLE}=complete_zsh $words[1] completion zsh 2>/dev/null </dev/null)"
}}
_wc_observe_completion() {{
    compadd -- {_OBSERVE}
}}
compdef _wc_completion wc wc-cli
compdef _wc_observe_completion wc-observe
# In a folder of fpath, this file is read at the first completion, which it answers.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    $_comps[$service] "$@"
fi
"""

_FISH_ASKS = (
    f"env {VARIABLE}=complete_fish _TYPER_COMPLETE_FISH_ACTION={{}}-args "
    "_TYPER_COMPLETE_ARGS=(commandline -cp) wc completion fish 2>/dev/null </dev/null"
)
_FISH = "".join(
    f"complete --command {name} --no-files --keep-order "
    f'--arguments "({_FISH_ASKS.format("get")})" '
    f'--condition "{_FISH_ASKS.format("is")}"\n'
    for name in ("wc", "wc-cli")
)
_FISH += "complete --command wc-observe --no-files --arguments web\n"
_FISH += "".join(
    f"complete --command wc-observe --long-option {word.removeprefix('--')}\n"
    for word in _OBSERVE.split()
    if word.startswith("--")
)

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
