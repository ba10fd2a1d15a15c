"""Making and keeping the index of a store: `wc_core.index` has its formats.

The index is written after the logs, by the process that settles them, and made from
nothing where it is missing. Nothing waits for it, and nothing is lost with it: what
cannot be written here is read from the logs. This room knows the files of the index and
their lock; it knows neither git nor who asks.
"""
