"""Functions that return the texts of certificate files, with new keys or with given keys.

The format is pyzmq's certificate format with additional metadata. `zmq.auth` can read the files,
and controller/roster reads them without ZeroMQ.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import zmq
from nacl.public import PrivateKey
from nacl.signing import SigningKey

from controller.host.atomic_files import make_folder
from controller.host.printable_text import escape_unprintable
from controller.messages import Role
from controller.roster import TABLE_NAME, Certificate, parse_certificate, sign_certificate

PUBLIC_MODE: Final = 0o644
SECRET_MODE: Final = 0o600

_SECRET_BANNER: Final = """\
#   ZeroMQ CURVE **Secret** Certificate
#   DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.

"""
_SIGN_BANNER: Final = """\
#   Ed25519 **Secret** of a table: what its machine signs with
#   DO NOT PROVIDE THIS FILE TO OTHER USERS, nor to the gateway's, nor change its permissions.

"""
_PUBLIC_BANNER: Final = """\
#   ZeroMQ CURVE Public Certificate
#   Give it to everybody who needs this key.

"""


def new_client_secret(name: str, role: Role, expires: datetime | None = None) -> str:
    """Return the text of a client's secret file, with new key pairs for CURVE and for signing.

    A chief also has a key pair for sealing, because hands are opened only for the chief. Raises
    ValueError for a text that is not a valid name.
    """
    sign = SigningKey.generate()
    fields = {"name": name, "role": role.value}
    if role is Role.CHIEF:
        unseal = PrivateKey.generate()
        fields |= {"seal": bytes(unseal.public_key).hex(), "unseal": bytes(unseal).hex()}
    if expires is not None:
        fields["expires"] = date_text(expires)
    fields |= {"verify": bytes(sign.verify_key).hex(), "sign": bytes(sign).hex()}
    text = _secret_text(fields, *_curve_pair())
    parse_certificate(text)
    return text


def new_sign_secret() -> str:
    """Return the text of a table's `table.sign` file, with a new Ed25519 key pair for signing."""
    sign = SigningKey.generate()
    fields = {"name": TABLE_NAME, "verify": bytes(sign.verify_key).hex(), "sign": bytes(sign).hex()}
    return f"{_SIGN_BANNER}metadata\n{_metadata_lines(fields)}"


def table_secret_text(verify: bytes, curve: tuple[str, str] | None = None) -> str:
    """Return the text of a table's `table.key_secret` file, which has the table's CURVE key pair.

    The pair is `curve` (public, secret), or a new pair if `curve` is None. The file also has the
    public signing key `verify` (32 bytes).
    """
    return _secret_text({"name": TABLE_NAME, "verify": verify.hex()}, *(curve or _curve_pair()))


def public_text(certificate: Certificate) -> str:
    """Return the text of a certificate's public file.

    The text includes the fields that the table added. If the certificate has a client's secret, the
    text also has the owner's signature. The signature proves to later readers that the file was not
    changed.
    """
    fields = {"name": certificate.name}
    if certificate.role is not None:
        fields["role"] = certificate.role.value
    if certificate.seal is not None:
        fields["seal"] = certificate.seal.hex()
    fields["verify"] = certificate.verify.hex()
    if certificate.expires is not None:
        fields["expires"] = date_text(certificate.expires)
    if certificate.revoked is not None:
        fields["revoked"] = _utc_stamp(certificate.revoked)
        reason = escape_unprintable(certificate.reason).replace('"', "'")
        fields["reason"] = f'"{reason}"'
    if certificate.role is not None and certificate.sign is not None:
        fields["proof"] = sign_certificate(certificate).hex()
    curve = f'curve\n    public-key = "{certificate.curve}"\n'
    return f"{_PUBLIC_BANNER}metadata\n{_metadata_lines(fields)}{curve}"


def date_text(moment: datetime) -> str:
    """Return a moment (UTC) as text for a certificate. Midnight is written as the day before it."""
    at_midnight = moment.time() == datetime.min.time()
    if at_midnight and moment.date() > date.min:
        return (moment - timedelta(days=1)).date().isoformat()
    return _utc_stamp(moment)


def make_folder_like(folder: Path, like: Path) -> Path:
    """Create the folder `folder` with the owner and mode of the folder `like`, and return its path.

    Raises OSError.
    """
    status = like.stat()
    make_folder(folder, status.st_uid, status.st_gid, status.st_mode & 0o777)
    return folder


def _secret_text(fields: Mapping[str, str], public: str, secret: str) -> str:
    curve = f'curve\n    public-key = "{public}"\n    secret-key = "{secret}"\n'
    return f"{_SECRET_BANNER}metadata\n{_metadata_lines(fields)}{curve}"


def _curve_pair() -> tuple[str, str]:
    public, secret = zmq.curve_keypair()
    return public.decode(), secret.decode()


def _metadata_lines(metadata: Mapping[str, str]) -> str:
    return "".join(f"    {key} = {value}\n" for key, value in metadata.items())


def _utc_stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
