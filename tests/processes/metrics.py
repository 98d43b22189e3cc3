"""The metrics of a table that runs."""

import http.client
from urllib.parse import urlsplit

from sim.tables.table_processes import TableProcess


def scrape(table: TableProcess) -> str:
    """Return what the table's gateway answers to Prometheus."""
    where = urlsplit(table.endpoints.metrics or "")
    assert where.hostname == "127.0.0.1"
    asking = http.client.HTTPConnection(where.hostname, where.port or 0)
    asking.request("GET", where.path)
    answer = asking.getresponse()
    body = answer.read().decode()
    asking.close()
    assert answer.status == 200
    return body
