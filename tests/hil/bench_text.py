"""The smallest bench file."""

from pathlib import Path

SMALL = """\
[bench]
id = "B01"
operator = "Chen"

[dealer]
port = "/dev/one"
id = "00000000000000d1"

[reader]
port = "/dev/two"
id = "00000000000000e1"
"""


def bench_file(folder: Path, text: str) -> Path:
    """Write a bench file."""
    path = folder / "bench.toml"
    path.write_text(text, encoding="utf-8")
    return path
