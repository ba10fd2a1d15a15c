"""Values as text for a person: tables, markdown, charts, the pager, notifications.

Returns text, or shows it; decides nothing. Must not read a store.
"""
