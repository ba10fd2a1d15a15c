"""Whether shells find our programs, and otherwise the folder to put into PATH."""

from __future__ import annotations

import os
import time

from wc_cli.agents.briefing.loginshell import LoginShell
from wc_cli.agents.install.clients import shells
from wc_cli.agents.launcher import is_ours, own_program
from wc_core.base.phrases import quoted, shown_path, with_home
from wc_core.base.programs import find_program
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_cli.agents.install.changes import InstallSite
    from wc_cli.agents.install.ledger import Owner

LOGIN_SECONDS = 5.0
_PROGRAMS = ("wc", "wc-cli", "wc-statusline")
_SHELLS = ("bash", "zsh", "fish")
# The variables with which a login starts a shell. Everything else, above all PATH,
# comes from the shell's files, whose setup an inherited guard variable could skip.
_LOGIN_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_LOGIN_VARIABLES = frozenset(
    {*("HOME", "USER", "LOGNAME", "TERM", "LANG"), "ZDOTDIR", "XDG_CONFIG_HOME"}
)
_BIN_VARIABLES = ("UV_TOOL_BIN_DIR", "PIPX_BIN_DIR", "XDG_BIN_HOME")


class _LoginCheck(NamedTuple):
    """A started login shell, the name of its kind, and whether its prompt shows our
    line."""

    name: str
    shell: LoginShell
    has_prompt: bool


def path_remedy(env: Mapping[str, str]) -> str:
    """Return what to do so that a shell finds our programs."""
    if folder := program_folder(env):
        return f"put {_word(folder, env)} first in PATH"
    installed = own_program("wc")
    if not installed:
        return "put the folder of wc-cli first in PATH"
    source = quoted(os.path.dirname(installed))
    return (
        f"run mkdir -p ~/.local/bin && ln -s {source}/wc {source}/wc-* ~/.local/bin "
        "and put ~/.local/bin first in PATH"
    )


def _word(folder: str, env: Mapping[str, str]) -> str:
    """Return a folder as a shell word; the shell only expands ``~`` without quotes."""
    short = with_home(folder, env)
    is_plain = quoted(short.removeprefix("~")) == short.removeprefix("~")
    return short if is_plain else quoted(folder)


def program_folder(env: Mapping[str, str]) -> str:
    """Return the folder of our programs that can be put into PATH; empty if they are
    only in a Python environment, whose ``python3`` would hide the system's."""
    installed = own_program("wc")
    if not installed:
        return ""
    home = env.get("HOME", "")
    folders = [
        *env.get("PATH", "").split(os.pathsep),
        *(env.get(name, "") for name in _BIN_VARIABLES),
        os.path.join(home, ".local/bin") if home else "",
        os.path.dirname(installed),
    ]
    target = os.path.realpath(installed)
    for folder in filter(os.path.isabs, folders):
        is_link = os.path.realpath(os.path.join(folder, "wc")) == target
        if is_link and not os.path.exists(os.path.join(folder, "../pyvenv.cfg")):
            return folder
    return ""


def login_problems(owners: Iterable[Owner], site: InstallSite) -> Iterator[str]:
    """Yield what new login shells would not find: those whose prompt shows our line,
    and the user's own. Their files run as at a login, for a few seconds at most."""
    checks = _start_shells(tuple(owners), site)
    end = time.monotonic() + LOGIN_SECONDS
    for check in checks:
        paths = check.shell.paths(end - time.monotonic())
        if paths is None:
            yield (
                f"a new {check.name} login shell did not answer within "
                f"{LOGIN_SECONDS:.0f} s, so it is unknown whether it finds wc"
            )
            continue
        has_unread = check.has_prompt and _is_unread(paths, check.name, site)
        if missing := _missing(paths, check, site):
            # Both lines go to one file: bash would not read ~/.profile any longer.
            default = ".bash_profile" if has_unread else ".profile"
            remedy = _remedy(check, site, default)
            yield f"in a new {check.name} login shell, {missing}: {remedy}"
        if has_unread:
            yield _unread_text(check.name, site)


def _start_shells(owners: tuple[Owner, ...], site: InstallSite) -> list[_LoginCheck]:
    """Start a shell of each relevant kind, all at once."""
    chosen = site.env.get("SHELL", "")
    own_name = os.path.basename(chosen)
    prompts = {owner.client for owner in owners if owner.part == "prompt"}
    env = {
        name: value
        for name, value in site.env.items()
        if name in _LOGIN_VARIABLES or name.startswith("LC_")
    }
    checks = []
    for name in _SHELLS:
        if name not in prompts and (name != own_name or not owners):
            continue
        path = chosen if name == own_name else find_program(site.env, name) or name
        login = env | {"PATH": _LOGIN_PATH, "SHELL": path}
        try:
            shell = LoginShell(login, (*_PROGRAMS, shells.HOOK), interactive=True)
        except OSError:
            continue  # no such shell, and so no terminal with it
        checks.append(_LoginCheck(name, shell, name in prompts))
    return checks


def _missing(paths: Mapping[str, str], check: _LoginCheck, site: InstallSite) -> str:
    """Return what a shell with these programs lacks; empty if nothing."""
    problems = []
    if not paths["wc"] or not is_ours(paths["wc"], "wc"):
        problems.append("`wc` counts words" if paths["wc"] else "`wc` is not found")
    # The prompt may start it by its full path.
    is_bare = "/wc-statusline" not in shells.prompt_file(check.name, site)[1]
    if check.has_prompt and is_bare and not paths["wc-statusline"]:
        problems.append("the prompt does not find wc-statusline")
    return " and ".join(problems)


def _is_unread(paths: Mapping[str, str], name: str, site: InstallSite) -> bool:
    """Whether the shell does not read the file with its prompt."""
    _, text = shells.prompt_file(name, site)
    # fish always reads its folder, and only lists programs.
    return bool(text) and name != "fish" and not paths[shells.HOOK]


def _unread_text(name: str, site: InstallSite) -> str:
    """Return what to do about a file with a prompt that the shell does not read."""
    path, _ = shells.prompt_file(name, site)
    file = shown_path(path, site.env)
    remedy = "export ZDOTDIR, then run wc install"
    if name == "bash":
        profile = _profile(name, site, ".bash_profile")
        line = f". {file}"
        # Other shells read this one, too.
        guard = '[ -z "$BASH_VERSION" ] || ' if profile == "~/.profile" else ""
        remedy = f"add to {profile}: {guard}{line}"
    return (
        f"in a new {name} login shell, the prompt line is missing, because {file} is "
        f"not read: {remedy}"
    )


def _remedy(check: _LoginCheck, site: InstallSite, default: str) -> str:
    """Return what to do, with the line for the file that such a shell reads; bash's is
    ``default`` if there is none yet."""
    folder = program_folder(site.env)
    if not folder:
        return path_remedy(site.env)
    word = _word(folder, site.env)
    if check.name == "fish":
        return f"run fish_add_path {word}"
    line = f"export PATH={word}:$PATH"
    return f"add to {_profile(check.name, site, default)}: {line}"


def _profile(name: str, site: InstallSite, default: str) -> str:
    """Return the file in which a login shell of this kind sets PATH; bash's is
    ``default`` if there is none yet."""
    if name == "zsh":
        return "~/.zprofile"
    # bash only reads the first of these.
    names = (".bash_profile", ".bash_login", ".profile")
    existing = (name for name in names if (site.home / name).exists())
    return f"~/{next(existing, default)}"
