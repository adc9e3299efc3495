"""A certificate for 127.0.0.1, which a test's server shows and its client trusts, and a key to sign statements with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat


class Certificate(NamedTuple):
    """The files of a certificate and of its private key."""

    chain: Path
    key: Path


def make_certificate(folder: Path, *, is_authority: bool = True) -> Certificate:
    """A new self-signed certificate for 127.0.0.1 and localhost. Some clients accept none from a server that is one of
    an authority."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    found = Certificate(folder / "certificate.pem", folder / "key.pem")
    found.chain.write_bytes(made.public_bytes(Encoding.PEM))
    found.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return found


def make_signing_key(folder: Path) -> Path:
    """The file of a new private key, for the setting `signing_key_file`."""
    path = folder / "signing-key.pem"
    made = Ed25519PrivateKey.generate()
    path.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path
