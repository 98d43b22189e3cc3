"""Certificates for the console of a test."""

import ssl
from pathlib import Path
from typing import NamedTuple

import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)


class Sealed(NamedTuple):
    """A certificate, its key, and the authority that signed it."""

    cert: Path
    key: Path
    authority: Path

    def trusted(self) -> ssl.SSLContext:
        """Return the settings of a browser that trusts this authority and no other."""
        return ssl.create_default_context(cafile=str(self.authority))


def certificate(
    folder: Path, name: str, *, names: str = "127.0.0.1", password: str | None = None
) -> Sealed:
    """Create a certificate for the host `names`, from an authority of its own.

    `password`: encrypts the key. None leaves it open.
    """
    made = Sealed(*(folder / f"{name}{end}" for end in (".pem", ".key", ".authority")))
    authority = trustme.CA()
    issued = authority.issue_cert(names)
    key = issued.private_key_pem.bytes()
    if password is not None:
        seal = BestAvailableEncryption(password.encode())
        unsealed = load_pem_private_key(key, None)
        key = unsealed.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, seal)
    made.cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    made.key.write_bytes(key)
    made.key.chmod(0o600)
    authority.cert_pem.write_to_path(str(made.authority))
    return made
