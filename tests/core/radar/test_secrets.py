"""Which names look like secrets."""

from __future__ import annotations

import pytest

from wc_core.edits.radar.secrets import looks_secret


@pytest.mark.parametrize(
    "path",
    [
        *(".env", "app/.env.local", "prod.env", ".envrc", ".netrc", ".npmrc"),
        *("id_rsa", "keys/id_ed25519", "server.pem", "tls/server.key", "a.p12"),
        *("secrets.yml", "config/app-secrets.json", "credentials", "credentials.json"),
        *("service-account-prod.json", ".ssh/config", ".aws/anything", "PROD.ENV"),
        *("terraform.tfvars", "password", ".git-credentials"),
    ],
)
def test_it_looks_like_a_secret(path: str) -> None:
    assert looks_secret(path)


@pytest.mark.parametrize(
    "path",
    [
        *("src/auth.py", ".env.example", ".env.sample", "id_rsa.pub", "environment.py"),
        *("secrets.py", "docs/secrets.md", "keyboard.ts", "tokenizer.json"),
        *("password_reset.py", "src/credentials.go", ".gitignore", "monkey"),
    ],
)
def test_it_does_not(path: str) -> None:
    assert not looks_secret(path)
