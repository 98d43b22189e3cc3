// A page's one stream: all parts first, then those that changed; and what to do when it is silent.

import { toLogin } from "./api.mjs";
import { framed } from "./dom.mjs";
import { now, setNow } from "./time.mjs";

const STALE_MS = 4000;
const AGAIN_MS = 2000;
/** A line that went without a word tells nobody that it is gone: so often another one is tried. */
const RETRY_MS = 6000;

/** Listen to a stream of the console until the returned function is called.
 *
 * `onParts(changed, parts)` is called at most once a frame: `changed` has the parts that are new
 * since the last call (null: gone), `parts` is a Map of all of them. `onStale(since)`: a moment
 * (Date) when nothing was heard for 4 s, and null when something is heard again.
 */
export function listen(url, onParts, onStale = () => {}) {
  const parts = new Map();
  let changed = {};
  let source = null;
  let heard = moment();
  let tried = heard;
  let trying = false;
  let stale = false;
  let closed = false;
  const draw = framed(() => {
    const news = changed;
    changed = {};
    if (!closed) onParts(news, parts);
  });

  const alive = () => {
    heard = moment();
    if (stale) {
      stale = false;
      onStale(null);
    }
  };
  const take = (told) => {
    for (const [name, value] of Object.entries(told)) {
      if (name === "now_ms") setNow(value);
      else {
        if (value === null) parts.delete(name);
        else parts.set(name, value);
        changed[name] = value;
      }
    }
    alive();
    draw();
  };
  const all = (told) => {
    for (const name of parts.keys()) if (!(name in told)) told[name] = null;
    take(told);
  };
  const open = () => {
    if (closed) return;
    source = new EventSource(url);
    source.addEventListener("all", (event) => all(JSON.parse(event.data)));
    source.addEventListener("some", (event) => take(JSON.parse(event.data)));
    source.addEventListener("beat", (event) => {
      const { now_ms: nowMs } = JSON.parse(event.data);
      if (nowMs) setNow(nowMs);
      alive();
    });
    source.addEventListener("gone", toLogin);
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return; // The browser tries again by itself.
      source.close();
      setTimeout(again, AGAIN_MS);
    });
  };
  const again = async () => {
    if (trying || closed) return;
    trying = true;
    tried = moment();
    try {
      const answer = await fetch("/api/me", { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(RETRY_MS) });
      if (answer.status === 401 && !closed) {
        toLogin();
        return;
      }
    } catch {
      // Away: the stream will say so, too.
    } finally {
      trying = false;
    }
    source?.close();
    open();
  };
  // A page that was left may be kept to come back to, with its line; a browser has six in all.
  const left = () => source?.close();
  const back = ({ persisted }) => {
    if (persisted) again();
  };
  addEventListener("pagehide", left);
  addEventListener("pageshow", back);
  const watch = setInterval(() => {
    if (since(heard) < STALE_MS) return;
    if (!stale) {
      stale = true;
      onStale(new Date(now() - since(heard)));
    }
    if (Math.min(since(heard), since(tried)) >= RETRY_MS) again();
  }, 500);

  open();
  return () => {
    closed = true;
    clearInterval(watch);
    removeEventListener("pagehide", left);
    removeEventListener("pageshow", back);
    source?.close();
  };
}

/** This moment by both clocks of a tablet: one may be set, the other may stop while it sleeps. */
function moment() {
  return { wall: Date.now(), steady: performance.now() };
}

/** Milliseconds since a moment, by the clock that says more. */
function since(one) {
  return Math.max(Date.now() - one.wall, performance.now() - one.steady);
}
