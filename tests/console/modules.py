"""A page's modules in a JavaScript engine without a browser: their words, their lines, their time.

`Page` loads a module with all that it imports, in a world of a few stand-ins: a clock that goes
on by `later`, a document that somebody sees or not, lines to the console that a test speaks on.
"""

import json
import re
from pathlib import Path
from typing import Any

from py_mini_racer import MiniRacer

JS = Path(__file__).parents[2] / "controller" / "console" / "static" / "js"

_IMPORT = re.compile(r"""^import\s+(?:(.+?)\s+from\s+)?["'](\.[^"']+)["'];?$""", re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)

_WORLD = """
var at = 1_000_000, due = [], listeners = {}, lines = [], kept = {}, M = {}, turn = 0;
Date.now = () => at;
var performance = { now: () => at };
var setTimeout = (run, ms) => (due.push({ at: at + (ms || 0), n: turn++, run }), turn);
var setInterval = (run, ms) => {
  const one = { at: at + ms, n: turn++ };
  one.run = () => {
    if (one.off) return;
    one.at = at + ms;
    due.push(one);
    run();
  };
  due.push(one);
  return one;
};
var clearInterval = (one) => { one.off = true; };
var clearTimeout = () => {};
var requestAnimationFrame = (run) => setTimeout(run, 16);
function later(ms) {
  const until = at + ms;
  for (;;) {
    due.sort((a, b) => a.at - b.at || a.n - b.n);
    if (!due.length || due[0].at > until) break;
    const next = due.shift();
    at = Math.max(at, next.at);
    next.run();
  }
  at = until;
}
function addEventListener(name, heard) { (listeners[name] ??= []).push(heard); }
function removeEventListener() {}
function happens(name, event = {}) { for (const heard of listeners[name] ?? []) heard(event); }
var document = {
  hidden: false, documentElement: { dataset: {} }, querySelectorAll: () => [],
  addEventListener, removeEventListener,
};
var matchMedia = () => ({ matches: false, addEventListener() {} });
function seen(whether) { document.hidden = !whether; happens("visibilitychange"); }
var navigator = { language: "en-GB" };
var location = { href: "/", reload: () => {}, assign: () => {} };
var localStorage = {
  getItem: (name) => kept[name] ?? null,
  setItem: (name, value) => { kept[name] = value; },
  removeItem: (name) => { delete kept[name]; },
};
var console = { error: () => {} };
var AbortSignal = { timeout: () => null };
var fetch = async () => ({ status: 200 });
class EventSource {
  static CLOSED = 2;
  constructor(url) { this.url = url; this.readyState = 1; this.told = {}; lines.push(this); }
  addEventListener(name, told) { this.told[name] = told; }
  close() { this.readyState = 2; }
  says(name, parts = {}) {
    if (this.readyState === 1) this.told[name]({ data: JSON.stringify(parts), lastEventId: "" });
  }
}
"""


class Page:
    """An engine with one module of the pages; its exports stand in `page`.

    `language`: what the browser's person reads; `hidden`: it lies behind another one.
    """

    def __init__(self, module: str, language: str = "en", *, hidden: bool = False) -> None:
        self._engine = MiniRacer()
        self._engine.eval(_WORLD)
        self.runs(f"kept['dealtable.language'] = {json.dumps(json.dumps(language))}")
        self.runs(f"document.hidden = {json.dumps(hidden)}")
        loaded: dict[Path, None] = {}
        _load((JS / module).resolve(), loaded, self._engine)
        self.runs(f"var page = M[{json.dumps(str((JS / module).resolve()))}]")

    def runs(self, script: str) -> None:
        """Run a script."""
        self._engine.eval(f"{script};0")

    def says(self, script: str) -> Any:
        """Return what an expression gives, as JSON has it."""
        return json.loads(str(self._engine.eval(f"JSON.stringify({script} ?? null)")))


def _load(path: Path, loaded: dict[Path, None], engine: MiniRacer) -> None:
    """Load a module behind those that it imports."""
    if path in loaded:
        return
    loaded[path] = None
    source = path.read_text(encoding="utf-8")
    for _, name in _IMPORT.findall(source):
        _load((path.parent / name).resolve(), loaded, engine)
    names = _EXPORT.findall(source)
    body = _IMPORT.sub(lambda found: _bound(found, path.parent), source)
    body = re.sub(r"^export default ", "const whole = ", body, flags=re.MULTILINE)
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    given = ", ".join([*names, *(["default: whole"] if "const whole = " in body else [])])
    engine.eval(f"M[{json.dumps(str(path))}] = (() => {{ {body}\nreturn {{ {given} }}; }})();0")


def _bound(found: re.Match[str], folder: Path) -> str:
    what, module = found[1], f"M[{json.dumps(str((folder / found[2]).resolve()))}]"
    if what is None:
        return ""
    if what.startswith("{"):
        return f"const {what.replace(' as ', ': ')} = {module};"
    if what.startswith("* as "):
        return f"const {what.removeprefix('* as ')} = {module};"
    return f"const {what} = {module}.default;"
