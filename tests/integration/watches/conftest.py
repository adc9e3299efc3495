"""A workspace with a few documents that watches ask about."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from trueweave import AsyncTrueweave, Chunk, Document, Mention


def said(uri: str, text: str, *names: str, readers: tuple[str, ...] | None = None) -> Document:
    """A document of one chunk that mentions these names."""
    return Document(uri, (Chunk(text, mentions=tuple(Mention(name) for name in names)),), readers=readers)


CHIEF = said("acme.md", "Ada Berg is chief executive of Acme.", "Ada Berg", "Acme")
NEW_CHIEF = said("acme.md", "Bo Lind is chief executive of Acme.", "Bo Lind", "Acme")
OTHER = said("rain.md", "Rain fell on Oslo all day.", "Oslo")
QUESTION = "Who is chief executive of Acme?"


@pytest.fixture
async def index(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    """A workspace with a document that answers the question, and one that does not."""
    await trueweave.add_documents([CHIEF, OTHER])
    return trueweave


@pytest.fixture
def signing_key(tmp_path: Path) -> Path:
    """The file of a key that alerts are signed with."""
    path = tmp_path / "signing-key.pem"
    path.write_bytes(Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path
