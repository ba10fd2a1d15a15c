"""Which files look like secrets, by name: their content is in no snapshot."""

from __future__ import annotations

from wc_core.base.lean import re

# Flags are in the patterns: `re` is imported when one is used.
_SECRET_NAMES = re.compile(
    r"(?i)\.env(?:\..+)?|.+\.env|\.envrc"
    r"|\.netrc|_netrc|\.npmrc|\.pypirc|\.htpasswd|\.git-credentials|\.pgpass|\.my\.cnf"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)[\w.-]*"
    r"|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|tfvars|tfstate)"
    r"|(?:.*[._-])?(?:secrets?|credentials?|service[_-]account)"
    r"(?:[._-].*)?\.(?:ya?ml|json|toml|ini|txt|properties)"
    r"|(?:secrets?|credentials?|token|password)"
)
_SAMPLE = re.compile(r"(?i).+[._-](?:example|sample|template|dist|pub)")
_SECRET_FOLDERS = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure"})


def looks_secret(path: str) -> bool:
    """Whether a file with this path may have a secret in it."""
    *folders, name = path.split("/")
    if not _SECRET_FOLDERS.isdisjoint(folders):
        return True
    return bool(_SECRET_NAMES.fullmatch(name)) and not _SAMPLE.fullmatch(name)
