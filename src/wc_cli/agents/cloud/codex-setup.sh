#!/bin/sh
# Setup script of an environment of Codex cloud. It has a network; the session has none,
# and a clone without a remote, so the threads are fetched here. The repository needs
# the files that `wc install --scope project codex` writes.
set -e

# Where you take wc from, and a tag or a commit of it.
WC=git+https://github.com/OWNER/REPOSITORY@TAG
# Where the threads are. A private repository needs a token: make a secret GH_TOKEN in
# the environment, which only this script can read.
URL=https://github.com/OWNER/REPOSITORY

if command -v uv >/dev/null; then uv tool install --quiet "$WC"; else pipx install "$WC"; fi
ln -sf ~/.local/bin/wc* /usr/local/bin/ 2>/dev/null || true

if [ -n "${GH_TOKEN-}" ]; then
  # Kept in this script's environment alone, not in a file.
  export GIT_CONFIG_COUNT=1
  export GIT_CONFIG_KEY_0=http.extraHeader
  GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'x-access-token:%s' "$GH_TOKEN" | base64 | tr -d '\n')"
  export GIT_CONFIG_VALUE_0
fi
WATERCOOLER_GIT_REPO=$URL ~/.local/bin/wc-cli init
