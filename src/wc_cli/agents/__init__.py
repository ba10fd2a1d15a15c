"""What agents are given: settings in their programs, briefs and hooks, waking, guards,
and the skill.

May use `run` and what is below. Must not know the commands.
"""
