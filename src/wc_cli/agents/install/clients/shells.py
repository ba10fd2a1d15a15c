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
from functools import partial
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.install.changes import InstallSite

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


def prompt_file(name: str, site: InstallSite) -> tuple[str, str]:
    """The path of the file with a shell's prompt, and its text if it has our lines."""
    path = _file("fish prompt" if name == "fish" else name, site)
    text = common.text_of(path)
    return str(path), text if HOOK in text else ""


def _is_used(name: str, site: InstallSite) -> bool:
    """Whether a shell has a file of the user, or is the user's own: a new account on
    macOS has no ~/.zshrc."""
    own_shell = os.path.basename(site.env.get("SHELL", ""))
    return _file(name, site).exists() or own_shell == name


def _file(name: str, site: InstallSite) -> Path:
    """The file of a shell, a prompt or tmux that has our lines."""
    config = common.config_folder(site)
    zsh, starship = (site.env.get(word) for word in ("ZDOTDIR", "STARSHIP_CONFIG"))
    # The first of tmux's files that exists; it reads all of them.
    tmux, in_config = site.home / ".tmux.conf", config / "tmux/tmux.conf"
    return {
        "bash": site.home / ".bashrc",
        "zsh": Path(zsh or site.home) / ".zshrc",
        "fish": config / "fish/config.fish",
        "fish prompt": config / "fish/conf.d/watercooler.fish",
        "starship": Path(starship or config / "starship.toml"),
        "powerlevel10k": Path(zsh or site.home) / ".p10k.zsh",
        "tmux": in_config if in_config.exists() and not tmux.exists() else tmux,
    }[name]


def _exists(name: str, site: InstallSite) -> bool:
    return _file(name, site).exists()


def _data_folder(site: InstallSite) -> Path:
    """XDG's folder for data; `man` searches it for programs in ``~/.local/bin``."""
    data = site.env.get("XDG_DATA_HOME", "")
    return Path(data) if os.path.isabs(data) else site.home / ".local/share"


def _uses_starship(shell: str, site: InstallSite) -> bool:
    """Whether a shell's file leaves the prompt to starship, which then shows our
    line."""
    return "starship init" in common.text_of(_file(shell, site))


def _completion(site: InstallSite, shell: str, lines: tuple[str, ...]) -> Part:
    """The completion script of a shell, and the lines in its file that read it."""
    script = _data_folder(site) / f"watercooler/completion.{shell}"
    word = shlex.quote(str(script))
    block = tuple(line.format(script=word) for line in lines)
    changes = (
        OwnFile(script, scripts.SCRIPTS[shell]),
        Block(_file(shell, site), block, _COMPLETION),
    )
    return Part("completion", changes, (_NOTE,))


def _prompt(name: str, lines: tuple[str, ...], note: str, site: InstallSite) -> Part:
    """The lines of a snippet, in a block of the file."""
    return Part(
        "prompt", (Block(_file(name, site), _fill_snippet(lines, site)),), (note,)
    )


def _bash_parts(site: InstallSite) -> tuple[Part, ...]:
    words = _completion(site, "bash", _BASH_COMPLETION)
    if _uses_starship("bash", site):
        return (words,)
    return (_prompt("bash", _BASH, _NOTE, site), words)


def _zsh_parts(site: InstallSite) -> tuple[Part, ...]:
    words = _completion(site, "zsh", _ZSH_COMPLETION)
    if _uses_starship("zsh", site) or _file("powerlevel10k", site).exists():
        return (words,)
    return (_prompt("zsh", _ZSH, _NOTE, site), words)


def _fish_parts(site: InstallSite) -> tuple[Part, ...]:
    folder = _file("fish", site).parent / "completions"
    # fish reads the file named after the command, instead of its own file for wc.
    files = tuple(
        OwnFile(folder / f"{name}.fish", scripts.SCRIPTS["fish"])
        for name in ("wc", "wc-cli", "wc-observe")
    )
    words = Part("completion", files)
    if _uses_starship("fish", site):
        return (words,)
    text = "".join(f"{line}\n" for line in _fill_snippet(_FISH, site))
    prompt = OwnFile(_file("fish prompt", site), text)
    return (Part("prompt", (prompt,), (_NOTE,)), words)


def _has_starship(site: InstallSite) -> bool:
    uses = (_uses_starship(shell, site) for shell in ("bash", "zsh", "fish"))
    return _file("starship", site).exists() or any(uses)


def _starship_parts(site: InstallSite) -> tuple[Part, ...]:
    table = {
        "command": program("wc-statusline", site),
        "when": True,
        "shell": ["sh"],
        "format": "([$output]($style) )",
        "style": "bold yellow",
        "description": "Whose move it is (Watercooler)",
    }
    change = Set(
        _file("starship", site), ("custom", "watercooler"), table, format="toml"
    )
    return (Part("prompt", (change,), _starship_notes(site)),)


def _starship_notes(site: InstallSite) -> tuple[str, ...]:
    """What is left to do for users who have configured the contents of their prompt."""
    try:
        chosen = tomllib.loads(common.text_of(_file("starship", site))).get("format")
    except tomllib.TOMLDecodeError:
        return ()
    markers = ("$all", "$custom", "${custom", "$all$")
    if not isinstance(chosen, str) or any(marker in chosen for marker in markers):
        return ()
    return ("Add ${custom.watercooler} to the format in starship.toml.",)


def _p10k_parts(site: InstallSite) -> tuple[Part, ...]:
    return (_prompt("powerlevel10k", _P10K, _NOTE, site),)


def _tmux_parts(site: InstallSite) -> tuple[Part, ...]:
    note = f"In a running tmux: tmux source-file {_file('tmux', site)}"
    return (_prompt("tmux", _TMUX, note, site),)


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
    Client("bash", partial(_is_used, "bash"), USER, _bash_parts),
    Client("zsh", partial(_is_used, "zsh"), USER, _zsh_parts),
    Client("fish", partial(_is_used, "fish"), USER, _fish_parts),
    Client("starship", _has_starship, USER, _starship_parts),
    Client("powerlevel10k", partial(_exists, "powerlevel10k"), USER, _p10k_parts),
    Client("tmux", partial(_exists, "tmux"), USER, _tmux_parts),
)
