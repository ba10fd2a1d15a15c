"""A person's day with `wc`: what is typed at real prompts, and what is then seen."""
