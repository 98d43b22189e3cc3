"""The independent verifier as a browser runs it: in a JavaScript engine, without node."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from py_mini_racer import JSPromise, MiniRacer

import controller.deal
from controller.rules.profile_files import load_profile
from controller.rules.regulations_page import regulations_text
from controller.signing import canonical_json

FOLDER = Path(next(iter(controller.deal.__path__)))
MODULES = ("hashes.mjs", "record.mjs", "rows.mjs", "rulebook.mjs", "verify.mjs")
# What every browser has beside the language, and a bare engine has not.
BROWSER = """
class TextEncoder {
  encode(text) {
    const escaped = unescape(encodeURIComponent(text));
    return Uint8Array.from(escaped, (c) => c.charCodeAt(0));
  }
}
function atob(text) {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  let bits = 0, held = 0, out = "";
  for (const c of text.replace(/=+$/, "")) {
    if (!digits.includes(c)) throw Error("no base64");
    [bits, held] = [(bits << 6) | digits.indexOf(c), held + 6];
    if (held < 8) continue;
    held -= 8;
    out += String.fromCharCode((bits >> held) & 255);
    bits &= (1 << held) - 1;
  }
  return out;
}
"""


class Browser:
    """An engine that has loaded the modules, as one script."""

    def __init__(self) -> None:
        self._engine = MiniRacer()
        self._engine.eval(BROWSER + "".join(map(_script, MODULES)))

    def check(
        self, events: Sequence[dict[str, Any]], rulebooks: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return what `check` says to a feed's events, given rulebooks of these names."""
        books = [*map(_rulebook, rulebooks)]
        said = [json.dumps(each, ensure_ascii=False) for each in (events, books)]
        promised = self._engine.eval(f"check({','.join(said)}).then(JSON.stringify)")
        assert isinstance(promised, JSPromise)
        report: dict[str, Any] = json.loads(str(promised.get()))
        return report

    def run(self, script: str) -> Any:
        """Return the value of an expression, by way of JSON."""
        return json.loads(str(self._engine.eval(f"JSON.stringify({script})")))


@cache
def _rulebook(name: str) -> dict[str, str]:
    profile = load_profile(name)
    return {"rules": canonical_json(profile).decode(), "page": regulations_text(profile)}


def _script(name: str) -> str:
    """Return a module as part of one script: without its imports, its exports plain."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    plain = (line.removeprefix("export ") for line in lines if not line.startswith("import "))
    return "\n".join(plain) + "\n"
