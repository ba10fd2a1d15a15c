"""Values as text for people: tables, markdown, charts, the pager.

Returns text, or shows it; decides nothing. Must not read a store.
"""
