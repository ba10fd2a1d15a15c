"""Shells, prompts and tmux: the snippets that show the status line, and completion;
the manual pages.

Each snippet keeps the exit status of the last command and may be read twice. Each
prompt checks whether our program exists: a login shell may set PATH after it reads the
snippet, and the program may be removed.
"""

from __future__ import annotations

import os
import shlex
import tomllib
from pathlib import Path

from wc_cli.agents.install import disk
from wc_cli.agents.install.changes import (
    USER,
    Block,
    Client,
    OwnFile,
    Part,
    Set,
    program,
)
from wc_cli.agents.install.clients import common
from wc_cli.agents.launcher import own_program
from wc_cli.run.completion import scripts
from wc_core.base.errors import WcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.install.changes import Change, InstallSite

_NOTE = "Open a new terminal."
# The shell function that prints our line before each prompt.
HOOK = "__watercooler"
# PROMPT_COMMAND is a string, which may end in a semicolon, or an array since 5.1.
_BASH = (
    "__watercooler() {{",
    "  local code=$?",
    "  if type {program} >/dev/null 2>&1; then",
    "    COLUMNS=${{COLUMNS-}} {program}",
    "  fi",
    "  return $code",
    "}}",
    "if [[ ${{PROMPT_COMMAND[*]-}} != *__watercooler* ]]; then",
    "  if [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then",
    "    PROMPT_COMMAND+=(__watercooler)",
    "  else",
    "    PROMPT_COMMAND=${{PROMPT_COMMAND:+$PROMPT_COMMAND$'\\n'}}__watercooler",
    "  fi",
    "fi",
)
_ZSH = (
    "__watercooler() {{",
    "  if type {program} >/dev/null 2>&1; then",
    "    COLUMNS=${{COLUMNS-}} {program}",
    "  fi",
    "}}",
    "autoload -Uz add-zsh-hook && add-zsh-hook precmd __watercooler",
)
_FISH = (
    "# Watercooler's prompt line; wc uninstall removes it.",
    "if status is-interactive",
    "    function __watercooler --on-event fish_prompt",
    "        if type -q {program}",
    "            COLUMNS=$COLUMNS {program}",
    "        end",
    "    end",
    "end",
)
# In a separate block of the same file as the prompt's.
_COMPLETION = "# completion:"
_BASH_COMPLETION = ("if [[ -r {script} ]]; then . {script}; fi",)
# Completion needs compinit, which the user's file may already call.
_ZSH_COMPLETION = (
    "if [[ -r {script} ]]; then",
    "  (( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit -i }}",
    "  . {script}",
    "fi",
)
# A theme prints its prompt in one piece, and may expand what a segment shows.
_P10K = (
    "function prompt_watercooler() {{",
    "  local line=$({program} 2>/dev/null)",
    '  [[ -z $line ]] || p10k segment -f 3 -t "${{line//\\%/%%}}"',
    "}}",
    "typeset -ga POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS",
    "(( ${{POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS[(I)watercooler]}} )) ||",
    "  POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS[1,0]=(watercooler)",
)
# tmux interprets what follows a # in a program's output, so no # may reach it. The path
# of a pane is quoted because it becomes a word of a shell command.
_TMUX = (
    "if -F '#{{e|<:#{{status-right-length}},100}}' 'set -g status-right-length 100'",
    # Only once, although tmux may read the file again.
    "if -F '#{{m:*wc-statusline*,#{{status-right}}}}' {{}} {{",
    "  set -ga status-right ' #(cd -- #{{q:pane_current_path}} && {line})'",
    "}}",
)
_TMUX_LINE = '{program} --ascii | tr -d "\\043"'
_PAGES = ("wc-cli.1", "wc-observe.1", "wc-statusline.1")


def _fill_snippet(lines: tuple[str, ...], site: InstallSite) -> tuple[str, ...]:
    """The lines of a snippet, with the word that starts our program."""
    word = program("wc-statusline", site)
    tmux_line = _TMUX_LINE.format(program=word)
    return tuple(line.format(program=word, line=tmux_line) for line in lines)


def _text_of(path: Path) -> str:
    """The text of a file; empty if it does not exist or cannot be read."""
    try:
        return (disk.read(str(path)) or b"").decode(errors="replace")
    except WcError:
        return ""


def prompt_file(name: str, site: InstallSite) -> tuple[str, str]:
    """The path of the file with a shell's prompt, and its text if it has our lines."""
    fish = _fish(site).parent / "conf.d/watercooler.fish"
    path = {"bash": _bashrc(site), "zsh": _zshrc(site), "fish": fish}[name]
    text = _text_of(path)
    return str(path), text if HOOK in text else ""


def _is_used(site: InstallSite, name: str, file: Path) -> bool:
    """Whether a shell has a file of the user, or is the user's own: a new account on
    macOS has no ~/.zshrc."""
    return file.exists() or os.path.basename(site.env.get("SHELL", "")) == name


def _zsh_folder(site: InstallSite) -> Path:
    chosen = site.env.get("ZDOTDIR", "")
    return Path(chosen) if chosen else site.home


def _bashrc(site: InstallSite) -> Path:
    return site.home / ".bashrc"


def _zshrc(site: InstallSite) -> Path:
    return _zsh_folder(site) / ".zshrc"


def _p10k(site: InstallSite) -> Path:
    return _zsh_folder(site) / ".p10k.zsh"


def _fish(site: InstallSite) -> Path:
    return common.config_folder(site) / "fish/config.fish"


def _data_folder(site: InstallSite) -> Path:
    """XDG's folder for data; `man` searches it for programs in ``~/.local/bin``."""
    data = site.env.get("XDG_DATA_HOME", "")
    return Path(data) if os.path.isabs(data) else site.home / ".local/share"


def _starship(site: InstallSite) -> Path:
    chosen = site.env.get("STARSHIP_CONFIG", "")
    return Path(chosen) if chosen else common.config_folder(site) / "starship.toml"


def _tmux(site: InstallSite) -> Path:
    """The first of its files that exists; tmux reads all of them."""
    in_home = site.home / ".tmux.conf"
    in_config = common.config_folder(site) / "tmux/tmux.conf"
    return in_config if in_config.exists() and not in_home.exists() else in_home


def _uses_starship(path: Path) -> bool:
    """Whether a shell's file leaves the prompt to starship, which then shows our
    line."""
    return "starship init" in _text_of(path)


def _prompt(change: Change, *notes: str) -> tuple[Part, ...]:
    return (Part("prompt", (change,), notes),)


def _completion(
    site: InstallSite, shell: str, rc: Path, lines: tuple[str, ...]
) -> Part:
    """The completion script of a shell, and the lines in its file that read it."""
    script = _data_folder(site) / f"watercooler/completion.{shell}"
    word = shlex.quote(str(script))
    block = tuple(line.format(script=word) for line in lines)
    changes = (
        OwnFile(script, scripts.SCRIPTS[shell]),
        Block(rc, block, _COMPLETION),
    )
    return Part("completion", changes, (_NOTE,))


def _bash_parts(site: InstallSite) -> tuple[Part, ...]:
    words = _completion(site, "bash", _bashrc(site), _BASH_COMPLETION)
    if _uses_starship(_bashrc(site)):
        return (words,)
    prompt = Block(_bashrc(site), _fill_snippet(_BASH, site))
    return (*_prompt(prompt, _NOTE), words)


def _zsh_parts(site: InstallSite) -> tuple[Part, ...]:
    words = _completion(site, "zsh", _zshrc(site), _ZSH_COMPLETION)
    if _uses_starship(_zshrc(site)) or _p10k(site).exists():
        return (words,)
    prompt = Block(_zshrc(site), _fill_snippet(_ZSH, site))
    return (*_prompt(prompt, _NOTE), words)


def _fish_parts(site: InstallSite) -> tuple[Part, ...]:
    folder = _fish(site).parent / "completions"
    # fish reads the file named after the command, instead of its own file for wc.
    files = tuple(
        OwnFile(folder / f"{name}.fish", scripts.SCRIPTS["fish"])
        for name in ("wc", "wc-cli", "wc-observe")
    )
    words = Part("completion", files)
    if _uses_starship(_fish(site)):
        return (words,)
    text = "".join(f"{line}\n" for line in _fill_snippet(_FISH, site))
    path = _fish(site).parent / "conf.d/watercooler.fish"
    return (*_prompt(OwnFile(path, text), _NOTE), words)


def _has_starship(site: InstallSite) -> bool:
    shells = (_bashrc(site), _zshrc(site), _fish(site))
    return _starship(site).exists() or any(map(_uses_starship, shells))


def _starship_parts(site: InstallSite) -> tuple[Part, ...]:
    table = {
        "command": program("wc-statusline", site),
        "when": True,
        "shell": ["sh"],
        "format": "([$output]($style) )",
        "style": "bold yellow",
        "description": "Whose move it is (Watercooler)",
    }
    change = Set(_starship(site), ("custom", "watercooler"), table, format="toml")
    return _prompt(change, *_starship_notes(site))


def _starship_notes(site: InstallSite) -> tuple[str, ...]:
    """What is left to do for users who have configured the contents of their prompt."""
    try:
        chosen = tomllib.loads(_text_of(_starship(site))).get("format")
    except tomllib.TOMLDecodeError:
        return ()
    markers = ("$all", "$custom", "${custom", "$all$")
    if not isinstance(chosen, str) or any(marker in chosen for marker in markers):
        return ()
    return ("Add ${custom.watercooler} to the format in starship.toml.",)


def _p10k_parts(site: InstallSite) -> tuple[Part, ...]:
    return _prompt(Block(_p10k(site), _fill_snippet(_P10K, site)), _NOTE)


def _tmux_parts(site: InstallSite) -> tuple[Part, ...]:
    note = f"In a running tmux: tmux source-file {_tmux(site)}"
    return _prompt(Block(_tmux(site), _fill_snippet(_TMUX, site)), note)


def _pages_source() -> Path | None:
    """Return the folder of our pages if they are hidden in a Python environment."""
    installed = own_program("wc-cli")
    if not installed:
        return None
    environment = Path(installed).parent.parent
    folder = environment / "share/man/man1"
    is_hidden = (environment / "pyvenv.cfg").exists()
    return folder if is_hidden and (folder / _PAGES[0]).exists() else None


def _man_parts(site: InstallSite) -> tuple[Part, ...]:
    source, folder = _pages_source(), _data_folder(site) / "man/man1"
    if source is None:
        return ()
    changes = tuple(
        OwnFile(folder / name, data.decode())
        for name in _PAGES
        # A link means pipx, which links the pages itself.
        if not (folder / name).is_symlink()
        and (data := disk.read(str(source / name))) is not None
    )
    return (Part("pages", changes),) if changes else ()


MAN = Client("man", lambda site: bool(_man_parts(site)), USER, _man_parts)
CLIENTS: tuple[Client, ...] = (
    Client(
        "bash", lambda site: _is_used(site, "bash", _bashrc(site)), USER, _bash_parts
    ),
    Client("zsh", lambda site: _is_used(site, "zsh", _zshrc(site)), USER, _zsh_parts),
    Client("fish", lambda site: _is_used(site, "fish", _fish(site)), USER, _fish_parts),
    Client("starship", _has_starship, USER, _starship_parts),
    Client(
        "powerlevel10k",
        lambda site: _p10k(site).exists(),
        USER,
        _p10k_parts,
    ),
    Client("tmux", lambda site: _tmux(site).exists(), USER, _tmux_parts),
    MAN,
)
