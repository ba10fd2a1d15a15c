"""What can be searched for: the words of texts and queries, and what entries mention.

This room knows entries. It does not know which threads exist, nor how they are read;
`wc_core.reading.views.search` searches.
"""
