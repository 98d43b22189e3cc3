"""Requests for the metrics that a gateway serves."""

import asyncio

from controller.client.discovery import Endpoints


async def request_metrics(endpoints: Endpoints, request: bytes) -> tuple[str, str]:
    """Send `request` as it is to the port of the metrics; return head and body of the answer."""
    assert endpoints.metrics is not None
    host, _, port = endpoints.metrics.removeprefix("http://").partition("/")[0].rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition("\r\n\r\n")
    return head, body


async def scrape(endpoints: Endpoints) -> str:
    """Return the metrics as Prometheus reads them."""
    head, body = await request_metrics(endpoints, b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
    assert head.startswith("HTTP/1.0 200 OK\r\n")
    assert f"Content-Length: {len(body.encode())}" in head
    return body
