"""The board of `wc board`: its columns and their lines, and the live screen.

Uses the views of wc_core. It reads the store again when files change, and stores
nothing itself. Must not know git or the remote.
"""
