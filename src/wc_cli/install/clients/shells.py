"""Shells, prompts and tmux: where the line that says whose move it is goes.

Each snippet leaves the exit status of the last command as it was, finds nothing
to do where our program is gone, and is the same when it is read twice.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wc_cli.install import disk
from wc_cli.install.changes import Block, Client, OwnFile, Part, TomlSet, program
from wc_cli.install.clients import common
from wc_core.errors import WcError

if TYPE_CHECKING:
    from wc_cli.install.changes import Change, InstallSite

_AGAIN = "Open a new terminal."
# PROMPT_COMMAND is a string, which may end in a semicolon, or an array since 5.1.
_BASH = (
    "__watercooler() {{",
    "  local code=$?",
    "  COLUMNS=${{COLUMNS-}} {program}",
    "  return $code",
    "}}",
    "if [[ ${{PROMPT_COMMAND[*]-}} != *__watercooler* ]] &&",
    "  type {program} >/dev/null 2>&1; then",
    "  if [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then",
    "    PROMPT_COMMAND+=(__watercooler)",
    "  else",
    "    PROMPT_COMMAND=${{PROMPT_COMMAND:+$PROMPT_COMMAND$'\\n'}}__watercooler",
    "  fi",
    "fi",
)
_ZSH = (
    "__watercooler() {{ COLUMNS=${{COLUMNS-}} {program} }}",
    "if type {program} >/dev/null 2>&1; then",
    "  autoload -Uz add-zsh-hook && add-zsh-hook precmd __watercooler",
    "fi",
)
_FISH = (
    "# The line of Watercooler; wc uninstall takes it out again.",
    "if status is-interactive; and type -q {program}",
    "    function __watercooler --on-event fish_prompt",
    "        COLUMNS=$COLUMNS {program}",
    "    end",
    "end",
)
# A theme prints its prompt in one piece; what it shows may be expanded as one.
_P10K = (
    "function prompt_watercooler() {{",
    "  local line=$({program} 2>/dev/null)",
    '  [[ -z $line ]] || p10k segment -f 3 -t "${{line//\\%/%%}}"',
    "}}",
    "typeset -ga POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS",
    "(( ${{POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS[(I)watercooler]}} )) ||",
    "  POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS[1,0]=(watercooler)",
)
# tmux obeys what a program prints after a #, so that must not reach it; and the
# path of a pane is a word to a shell.
_TMUX = (
    "if -F '#{{e|<:#{{status-right-length}},100}}' 'set -g status-right-length 100'",
    "set -ga status-right ' #(cd -- #{{q:pane_current_path}} && {line})'",
)
_TMUX_LINE = '{program} --ascii | tr -d "\\043"'


def _filled(lines: tuple[str, ...], here: InstallSite) -> tuple[str, ...]:
    words = program("wc-statusline", here)
    line = _TMUX_LINE.format(program=words)
    return tuple(one.format(program=words, line=line) for one in lines)


def _text(path: Path) -> str:
    """A file that is there and can be read; else nothing."""
    try:
        return (disk.read(str(path)) or b"").decode(errors="replace")
    except WcError:
        return ""


def _zsh_folder(here: InstallSite) -> Path:
    said = here.env.get("ZDOTDIR", "")
    return Path(said) if said else here.home


def _bashrc(here: InstallSite) -> Path:
    return here.home / ".bashrc"


def _zshrc(here: InstallSite) -> Path:
    return _zsh_folder(here) / ".zshrc"


def _p10k(here: InstallSite) -> Path:
    return _zsh_folder(here) / ".p10k.zsh"


def _fish(here: InstallSite) -> Path:
    return common.config_folder(here) / "fish/config.fish"


def _starship(here: InstallSite) -> Path:
    said = here.env.get("STARSHIP_CONFIG", "")
    return Path(said) if said else common.config_folder(here) / "starship.toml"


def _tmux(here: InstallSite) -> Path:
    """Its file: the first of those that it reads, and reads all of."""
    first, second = (
        here.home / ".tmux.conf",
        common.config_folder(here) / "tmux/tmux.conf",
    )
    return second if second.exists() and not first.exists() else first


def _has_starship(path: Path) -> bool:
    """Whether a shell's file leaves the prompt to starship, which has the line."""
    return "starship init" in _text(path)


def _prompt(change: Change, *notes: str) -> tuple[Part, ...]:
    return (Part("prompt", (change,), notes),)


def _bash_parts(here: InstallSite) -> tuple[Part, ...]:
    if _has_starship(_bashrc(here)):
        return ()
    return _prompt(Block(_bashrc(here), _filled(_BASH, here)), _AGAIN)


def _zsh_parts(here: InstallSite) -> tuple[Part, ...]:
    if _has_starship(_zshrc(here)) or _p10k(here).exists():
        return ()
    return _prompt(Block(_zshrc(here), _filled(_ZSH, here)), _AGAIN)


def _fish_parts(here: InstallSite) -> tuple[Part, ...]:
    if _has_starship(_fish(here)):
        return ()
    text = "".join(f"{one}\n" for one in _filled(_FISH, here))
    return _prompt(
        OwnFile(_fish(here).parent / "conf.d/watercooler.fish", text), _AGAIN
    )


def _starship_parts(here: InstallSite) -> tuple[Part, ...]:
    table = {
        "command": program("wc-statusline", here),
        "when": True,
        "shell": ["sh"],
        "format": "([$output]($style) )",
        "style": "bold yellow",
        "description": "Whose move it is (Watercooler)",
    }
    change = TomlSet(_starship(here), ("custom", "watercooler"), table)
    return _prompt(change, *_starship_notes(here))


def _starship_notes(here: InstallSite) -> tuple[str, ...]:
    """What is left to do where the person has chosen what a prompt is made of."""
    import tomllib

    try:
        chosen = tomllib.loads(_text(_starship(here))).get("format")
    except tomllib.TOMLDecodeError:
        return ()
    shows = ("$all", "$custom", "${custom", "$all$")
    if not isinstance(chosen, str) or any(one in chosen for one in shows):
        return ()
    return ("Add ${custom.watercooler} to the format in starship.toml.",)


def _p10k_parts(here: InstallSite) -> tuple[Part, ...]:
    return _prompt(Block(_p10k(here), _filled(_P10K, here)), _AGAIN)


def _tmux_parts(here: InstallSite) -> tuple[Part, ...]:
    note = f"In a running tmux: tmux source-file {_tmux(here)}"
    return _prompt(Block(_tmux(here), _filled(_TMUX, here)), note)


_USER = ("user",)
CLIENTS: tuple[Client, ...] = (
    Client("bash", "bash", lambda here: _bashrc(here).exists(), _USER, _bash_parts),
    Client("zsh", "zsh", lambda here: _zshrc(here).exists(), _USER, _zsh_parts),
    Client("fish", "fish", lambda here: _fish(here).exists(), _USER, _fish_parts),
    Client(
        "starship",
        "starship",
        lambda here: (
            _starship(here).exists()
            or any(map(_has_starship, (_bashrc(here), _zshrc(here), _fish(here))))
        ),
        _USER,
        _starship_parts,
    ),
    Client(
        "powerlevel10k",
        "powerlevel10k",
        lambda here: _p10k(here).exists(),
        _USER,
        _p10k_parts,
    ),
    Client("tmux", "tmux", lambda here: _tmux(here).exists(), _USER, _tmux_parts),
)
