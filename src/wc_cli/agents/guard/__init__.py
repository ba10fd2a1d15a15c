"""Guards others' claims before and after an agent's tool edits files.

Uses `claims` to read who has claimed what, `branch` to ask git which files changed, and
`wc_core.edits.guard` for what a tool call changes. Knows no client: `briefing`
translates. Must not change a claim, except to renew the agent's own.
"""
