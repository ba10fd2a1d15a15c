#!/bin/sh
# Setup script of an environment of Claude Code in the cloud. It runs before each
# session, once the repository has been cloned. The repository needs the files that
# `wc install --scope project claude` writes: hooks, skill and server.
set -e

# Where you take wc from, and a tag or a commit of it.
WC=git+https://github.com/OWNER/REPOSITORY@TAG

if command -v uv >/dev/null; then uv tool install --quiet "$WC"; else pipx install "$WC"; fi
# Where hooks and servers find it, whatever PATH they get.
ln -sf ~/.local/bin/wc* /usr/local/bin/ 2>/dev/null || true
