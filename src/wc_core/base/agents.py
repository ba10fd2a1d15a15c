"""The table of known agents: one row has everything that identifies an agent.

Names, identity, the server, the installer, the prompt script and the tests use it. An
agent's own files are in `wc_cli.agents.install.clients`, the answers to its hooks in
`wc_cli.agents.briefing.dialects`.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple

# If one agent has started another, the variables of both are set, and nothing in the
# environment shows which is the inner one. So agents that others start come first:
# programs for the terminal, then Claude Code, which often runs them, then agents in an
# editor.
STARTED_BY_OTHERS, STARTS_OTHERS, IN_EDITOR = range(3)


class Agent(NamedTuple):
    """An agent.

    - ``client``: its word for `wc install`; empty for an agent that is not installed to
    - ``spellings``: other ways to write its name, in lower case without blanks
    - ``mcp_names``: what it calls itself as an MCP client, where that is neither,
      in lower case with dashes for blanks; one that ends in a dash is the beginning
    - ``variables``: set for the commands that it runs, by it and by nothing else
    - ``programs``: its programs, for commands that it sets no variable for: the name
      of an executable or of an npm package, see `wc_core.people.identity.ancestry`
    - ``session``: the variable with the id of the session that a command belongs to
    - ``bots``: the addresses, in lower case, that git is configured with where it works
      in the cloud
    - ``headless``: the command that runs it for one prompt, without a terminal; the
      prompt is the last argument. No option in it lifts the client's own questions
    - ``cloud``: the command with which a person starts it in the cloud; the prompt is
      the last argument
    - ``nesting``: whether other agents start it, or it starts them
    """

    name: str
    client: str = ""
    spellings: tuple[str, ...] = ()
    mcp_names: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    session: str = ""
    nesting: int = STARTED_BY_OTHERS
    bots: tuple[str, ...] = ()
    headless: tuple[str, ...] = ()
    cloud: tuple[str, ...] = ()


# In the order in which `wc install` shows them.
#
# A variable comes with the place where its agent says that it sets it. What a
# *terminal* sets for everything in it is not here: ``TERM_PROGRAM``, ``ZED_TERM``,
# ``CURSOR_TRACE_ID`` and ``VSCODE_*`` are there for the person at the keyboard too.
# Names of MCP clients were seen in the programs that tests/clients installs, else
# in apify/mcp-client-capabilities.
AGENTS = (
    Agent(
        "Claude Code",
        "claude",
        ("claude", "claude-code"),
        # anthropics/claude-code#531; 2.1.332 sets it for hooks and status lines too.
        variables=("CLAUDECODE",),
        session="CLAUDE_CODE_SESSION_ID",  # shared by sub-agents
        nesting=STARTS_OTHERS,
        bots=("noreply@anthropic.com",),  # anthropics/claude-code#58141
        headless=("claude", "-p"),
        cloud=("claude", "--cloud"),
    ),
    Agent("Claude Desktop", "claude-desktop", ("claude-desktop",), ("claude-ai",)),
    Agent(
        "Codex",
        "codex",
        ("codexcli", "codex-cli"),
        ("codex-mcp-client",),
        (
            # openai/codex, codex-rs/protocol/src/shell_environment.rs: each command.
            "CODEX_THREAD_ID",
            # openai/codex, codex-rs/core/src/spawn.rs: in its sandbox on macOS.
            "CODEX_SANDBOX",
        ),
        session="CODEX_THREAD_ID",  # a sub-agent has its own
        # openai/codex, codex-rs/core/src/commit_attribution.rs
        bots=("noreply@openai.com", "codex@openai.com"),
        headless=("codex", "exec"),
        cloud=("codex", "cloud", "exec", "--env", "ENVIRONMENT"),
    ),
    Agent(
        "Gemini CLI",
        "gemini",
        ("gemini", "gemini-cli"),
        # Older versions add the name of the server.
        ("gemini-cli-mcp-client", "gemini-cli-mcp-client-"),
        ("GEMINI_CLI",),  # google-gemini/gemini-cli, docs/tools/shell.md
        headless=("gemini", "-p"),
    ),
    Agent(
        "Qwen Code",
        "qwen",
        ("qwen", "qwen-code"),
        mcp_names=("qwen-cli-mcp-client-",),  # and the name of the server
        # npm @qwen-code/qwen-code 0.24.4: the environment of its shell tool.
        variables=("QWEN_CODE",),
        session="QWEN_CODE_SESSION_ID",
        headless=("qwen", "-p"),
    ),
    Agent(
        "opencode",
        "opencode",
        variables=("OPENCODE",),  # npm opencode-ai 1.18.33, at its start
        headless=("opencode", "run"),
    ),
    Agent("Crush", variables=("CRUSH",)),  # charmbracelet/crush#2484
    Agent(
        "Goose",
        # aaif-goose/goose#3911, "Variables Controlled by goose" in its guide.
        variables=("GOOSE_TERMINAL",),
        session="AGENT_SESSION_ID",  # aaif-goose/goose#7072
    ),
    Agent(
        "Pi",
        variables=("PI_CODING_AGENT",),  # earendil-works/pi#2867
    ),
    Agent(
        "Kiro",
        spellings=("kiro-cli",),
        variables=("KIRO_SESSION_ID",),  # kiro-cli 2.6.1: dynatrace-oss/dtctl#282
        session="KIRO_SESSION_ID",
    ),
    Agent(
        "Copilot CLI",
        "copilot",
        ("copilot-cli", "github-copilot-cli"),
        mcp_names=("github-copilot-developer",),
        # copilot 1.0.63: dynatrace-oss/dtctl#288; Azure/azure-dev#8249.
        variables=("COPILOT_CLI",),
        session="COPILOT_AGENT_SESSION_ID",
        # watson/is-ci#28: COPILOT_AGENT_COMMIT_EMAIL
        bots=("198982749+copilot@users.noreply.github.com",),
        headless=("copilot", "-p"),
    ),
    Agent(
        "Cursor",
        "cursor",
        ("cursor-agent",),
        ("cursor-vscode",),
        # cursor.com/docs/agent/terminal, for its editor and for cursor-agent.
        ("CURSOR_AGENT",),
        bots=("cursoragent@cursor.com",),
    ),
    Agent(
        "VS Code",
        "vscode",
        ("visualstudiocode", "github_copilot_vscode_agent"),
        # Its other edition is "Visual Studio Code - Insiders".
        ("visual-studio-code", "visual-studio-code-"),
        # microsoft/vscode#316267: only in terminals of Copilot's agent.
        ("COPILOT_AGENT",),
        nesting=IN_EDITOR,
    ),
    Agent("Zed", "zed"),
    Agent("Windsurf", "windsurf", mcp_names=("windsurf-client",)),
    Agent(
        "Cline",
        "cline",
        mcp_names=("@cline/core",),
        # In VS Code: cline/cline#7858, TerminalRegistry.ts. Not in a terminal, as of
        # npm cline 3.0.65.
        variables=("CLINE_ACTIVE",),
        programs=("cline",),
        nesting=IN_EDITOR,
    ),
    Agent(
        "Continue",
        "continue",
        spellings=("continue-cli", "continuedev"),
        mcp_names=("continue-cli-client",),
        # npm @continuedev/cli 1.5.47 sets no variable for its commands.
        programs=("@continuedev/cli",),
    ),
    Agent(
        "Kimi Code",
        spellings=("kimi", "kimi-code", "kimi-cli"),
        # Version 2.1.0 sets no variable. Its process renames itself to kimi-code, cut
        # to the length of its command line: MoonshotAI/kimi-code#407, #3659.
        programs=("kimi", "kimi-code", "@moonshot-ai/kimi-code"),
    ),
    Agent("Junie", "jetbrains"),
    Agent(
        "Antigravity",
        mcp_names=("antigravity-client",),
        variables=("ANTIGRAVITY_AGENT",),  # firebase/firebase-tools#10457
        nesting=IN_EDITOR,
    ),
    Agent("Amp", mcp_names=("amp-mcp-client",)),
    Agent("OpenHands", bots=("openhands@all-hands.dev",)),
    Agent(
        "Jules",
        bots=("161369871+google-labs-jules[bot]@users.noreply.github.com",),
    ),
)

# The variable that several agents set by agreement, to the agent's name with or
# without a version: npm @vercel/detect-agent. Claude Code 2.1.332 sets it to
# claude-code_2-1-330_agent; pi, crush and openhands to just that.
CONVENTION = "AI_AGENT"

# An older agreement, on a word so common that only one value counts, that of an
# agent without a variable of its own: aaif-goose/goose#7017.
OLDER_CONVENTION = ("AGENT", "amp")

_BY_NESTING = sorted(AGENTS, key=lambda agent: agent.nesting)

# Each variable with the name of its agent, the one that counts first first.
VARIABLES = tuple(
    (variable, agent.name) for agent in _BY_NESTING for variable in agent.variables
)
SESSION_VARIABLES = tuple(agent.session for agent in _BY_NESTING if agent.session)

# Each program with the name of its agent.
PROGRAMS = {program: agent.name for agent in AGENTS for program in agent.programs}

_BOTS = {address: agent.name for agent in AGENTS for address in agent.bots}
# How GitHub names the user of an app.
_BOT_MARK = "[bot]"

_MCP_NAMES = {name: agent.name for agent in AGENTS for name in agent.mcp_names}


def agent_of_client(name: str) -> str:
    """The agent of an MCP client with this name, if the table has it; otherwise
    empty."""
    folded = "-".join(name.casefold().split())
    beginnings = (part for part in _MCP_NAMES if part[-1] == "-")
    beginning = next((part for part in beginnings if folded.startswith(part)), "")
    return _MCP_NAMES.get(folded) or _MCP_NAMES.get(beginning, "")


def agent_of_bot(name: str, email: str) -> str:
    """The agent whose own user git is configured for, by its address; the ``name``
    itself if it is that of another bot. Empty for a person."""
    agent = _BOTS.get(email.strip().lower(), "")
    return agent or (name if name.strip().lower().endswith(_BOT_MARK) else "")


def row_of(name: str) -> Agent | None:
    """The row of an agent by its canonical name; ``None`` if the table lacks it."""
    return next((agent for agent in AGENTS if agent.name == name), None)


# The name of an agent that is not in the table, if wc knows that it is an agent but not
# which.
UNKNOWN = "Agent"
