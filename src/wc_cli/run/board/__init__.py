"""The live board of `wc board`: a Textual application.

Uses the views of wc_core, and the commands for the keys of `--write`. It reads the
store again when files change, and stores nothing itself. Must not know git or the
remote.
"""
