"""Values as text for a person: tables, markdown, charts, the pager.

Returns text, or shows it; decides nothing. Must not read a store.
"""
