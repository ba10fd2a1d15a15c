"""The commands that read: threads, lists, searches, news.

Each parses, asks and prints, as all commands do; `wc_core.reading.views` does the work.
Must not write an entry.
"""
