"""Searches: which entries answer a question, and in which order they are shown.

`answers` has the question and its answer. It asks an engine: `scan` reads the logs,
`indexed` asks the index and reads the logs that it lacks; both find the same. `ranked`
puts entries in order by their texts, `loose` and `candidates` find those with some of
the words.
"""
