"""A real console behind TLS: a session outlasts a restart, and its secrets are its own."""

import signal
import ssl
from pathlib import Path

import httpx
import pytest
from httpx import AsyncClient

from controller.messages import Role
from tests.console.certificates import certificate
from tests.processes.program import Start

pytestmark = pytest.mark.slow

PIN = "4711"


async def test_a_sealed_console_keeps_its_sessions_over_a_restart_and_its_secrets_to_itself(
    start: Start, tmp_path: Path
) -> None:
    made = certificate(tmp_path, "hall")
    config = tmp_path / "console.toml"
    config.write_text(
        '[console]\nname = "Hall 1"\nlisten = "127.0.0.1:0"\n'
        'tls_cert = "hall.pem"\ntls_key = "hall.key"\ninvitation_h = 5\n'
    )
    program = await start("console", "--config", config)
    url = (await program.line("Hall 1: https")).split()[2]
    line = await program.line('invitation of "chief"')
    assert line.rstrip().endswith(f"{url}/invited within 5 h")
    code = line.partition(": ")[2].split()[0]
    trusts = made.trusted()
    async with AsyncClient(base_url=url, headers={"X-Dealtable": "1"}, verify=trusts) as client:
        accepted = await client.post("/api/accept", json={"code": code, "pin": PIN})
        assert accepted.json()["role"] == "chief"
        assert "Secure" in accepted.headers["set-cookie"]
        cookies = dict(client.cookies)
    async with AsyncClient(base_url=url, verify=ssl.create_default_context()) as stranger:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await stranger.get("/login")
    assert (await program.end(signal.SIGINT)).code == 0

    again = await start("console", "--config", config)
    url = (await again.line("Hall 1: https")).split()[2]
    async with AsyncClient(base_url=url, verify=trusts, cookies=cookies) as client:
        assert (await client.get("/api/me")).json()["name"] == "chief"
    assert (await again.end(signal.SIGTERM)).code == 0
    assert readable_by_others(tmp_path) == []


def readable_by_others(folder: Path) -> list[Path]:
    """Return those of a console's secrets that another user of its computer can read."""
    secrets = [*folder.glob("console.db*"), *folder.glob("keys/*.key_secret")]
    assert len(secrets) > len(Role)
    return [one for one in secrets if one.stat().st_mode & 0o077]
