"""Keys and secrets: detects files that contain them, by name and by content. They are rarely meant to be indexed with a
folder."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

_NAMES = frozenset(
    {
        "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", ".env", ".envrc", ".netrc",
        "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".npmrc", ".pypirc", ".htpasswd", ".git-credentials",
        ".dockercfg", "kubeconfig", "credentials", "credentials.csv", "accesskeys.csv", "rootkey.csv",
    }
)  # fmt: skip
_PATTERNS = (
    "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.keytab", "*.kdbx", ".env.*", "*.env",
    "*_accesskeys.csv", "client_secret*.json", "service[-_]account*.json", "*.tfvars", "*.tfstate", "*.tfstate.backup",
)  # fmt: skip
_OF_SETTINGS = {".cfg", ".conf", ".ini", ".json", ".properties", ".toml", ".xml", ".yaml", ".yml"}
_EXAMPLES = (".example", ".sample", ".template")  # .env.example and similar files contain no secrets

_PRIVATE_KEY = re.compile(
    rb"-----BEGIN [A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?-----"
    rb"(?:\\[nr]|\s)+(?:[A-Za-z-]{3,20}: [^\n]{0,200}\s+){0,4}[A-Za-z0-9+/=]{20}"
    rb"|PuTTY-User-Key-File-\d: |AGE-SECRET-KEY-1[0-9A-Z]{50}"
)
_TOKEN = re.compile(
    rb"(?<![A-Za-z0-9_-])(?:"
    rb"gh[opsru]_[A-Za-z0-9]{36}|github_pat_\w{60}|glpat-[\w-]{20}"
    rb"|AKIA[A-Z2-7]{16}|ASIA[A-Z2-7]{16}|(?i:aws_secret_access_key)[\"' ]{0,3}[=:][\"' ]{0,3}[A-Za-z0-9/+]{40}"
    rb"|xox[abeoprs]-[0-9A-Za-z-]{20}|sk-(?:ant|proj)-[\w-]{30}|sk_live_\w{20}|AIza[\w-]{35}"
    rb"|npm_[A-Za-z0-9]{36}|pypi-AgEIcHlwaS5vcmc[\w-]{40}|hf_[A-Za-z0-9]{30}|twk_[0-9a-f]{12}_[\w-]{40}"
    rb")"
)
_FEWEST = 10  # distinct characters of a token: sk-proj-xxxxxxxx… is a placeholder


def named_like_secret(name: str) -> bool:
    """Whether a file of this name usually contains keys, passwords or tokens."""
    low = name.lower()
    stem, suffix = Path(low).stem, Path(low).suffix
    if suffix in _EXAMPLES:
        return False
    is_settings = stem in ("credentials", "secrets") and suffix in _OF_SETTINGS
    return low in _NAMES or is_settings or any(fnmatchcase(low, pattern) for pattern in _PATTERNS)


def secret_in(start: bytes) -> str:
    """The kind of secret in a file that begins like this, for messages; empty if there is none."""
    if _PRIVATE_KEY.search(start):
        return "a private key"
    if any(_is_real(found[0]) for found in _TOKEN.finditer(start)):
        return "an access token"
    return ""


def _is_real(token: bytes) -> bool:
    return len(set(token)) >= _FEWEST and b"EXAMPLE" not in token
