"""Certificates for a test's own console, made by openssl as an organizer would."""

import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple


class Sealed(NamedTuple):
    """A certificate, and its key."""

    cert: Path
    key: Path

    def trusted(self) -> ssl.SSLContext:
        """Return what a browser has that trusts this certificate and no other."""
        return ssl.create_default_context(cafile=str(self.cert))


def certificate(
    folder: Path, name: str, *, names: str = "IP:127.0.0.1", password: str | None = None
) -> Sealed:
    """Make a certificate for `names` that signs itself; `password`: of its key, None for none."""
    made = Sealed(folder / f"{name}.pem", folder / f"{name}.key")
    seal = ["-noenc"] if password is None else ["-passout", f"pass:{password}"]
    words = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
        *("-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}"),
        *("-keyout", str(made.key), "-out", str(made.cert), *seal),
    ]
    subprocess.run(words, check=True, capture_output=True, timeout=30)
    made.key.chmod(0o600)
    return made
