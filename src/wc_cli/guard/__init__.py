"""Guards what others have claimed: before a tool of an agent edits it, and after.

Uses `claims` to read who has what, `branch` to ask git which files changed, and
`wc_core.guard` for what a tool call changes. Knows no client: `briefing` translates.
Must not change a claim, except to renew those of the agent.
"""
