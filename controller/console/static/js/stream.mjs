// A page's one stream: all parts first, then those that changed; and what to do when it is silent.
//
// A browser has six lines to one address. The console gives its pages fewer together, and ends one
// for another: a page that lost its own takes the next by itself (`retry`), is told what changed
// since, and nobody sees that but by a moment.

import { toLogin } from "./api.mjs";
import { framed } from "./dom.mjs";
import { given } from "./settled.mjs";
import { now, ofDay, setNow } from "./time.mjs";
import { say } from "./words.mjs";

const STALE_MS = 4000;
const AGAIN_MS = 2000;
/** A line that went without a word tells nobody that it is gone: so often another one is tried. */
const RETRY_MS = 6000;
/** A page that nobody has seen for so long lets its line go, or shares one with others like it. */
const REST_MS = 20_000;

/** Listen to a stream of the console until the returned function is called.
 *
 * `onParts(changed, parts)` is called at most once a frame: `changed` has the parts that are new
 * since the last call (null: gone), `parts` is a Map of all of them. `onStale(since, connecting)`:
 * a moment (Date) when what is shown is of that moment and not of now, and null when it is again.
 * `connecting`: the page had let its line go while nobody saw it, or stood still itself, and takes
 * its line up again; else nothing was heard for 4 s. `keeps()`: whether it goes on to listen though nobody sees the page, as
 * there is something to be heard: on a line that all such pages of this browser have in turns.
 */
export function listen(url, onParts, onStale = () => {}, keeps = () => false) {
  const parts = new Map();
  let changed = {};
  let newest = ""; // the id of the newest event that brought parts
  let source = null;
  let heard = moment();
  let tried = heard;
  let trying = false;
  /** Whether the page was told that it is old, and whether something was heard since. */
  let stale = false;
  let current = false;
  /** Whether the page was told that its line is on its way, and not that nothing is heard. */
  let coming = false;
  /** When the page looked last whether it hears anything: long ago after it stood still itself. */
  let looked = heard;
  let closed = false;
  let hidden = document.hidden ? moment() : null;
  let resting = Boolean(hidden) && !keeps(); // a page that opens behind others waits to be seen
  let behind = Boolean(hidden) && keeps();
  const draw = framed(() => {
    const news = changed;
    changed = {};
    if (closed) return;
    onParts(news, parts);
    given(newest);
    if (!stale || !current) return;
    stale = false; // not before it is on the page
    onStale(null, false);
  });

  const old = (connecting) => {
    current = false;
    if (connecting && !parts.size) return; // nothing is shown
    stale = true;
    coming = connecting;
    onStale(new Date(now() - since(heard)), connecting);
  };
  const alive = () => {
    heard = moment();
    current = true;
  };
  const take = (told, { lastEventId }) => {
    newest = lastEventId;
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
  const all = (told, event) => {
    for (const name of parts.keys()) if (!(name in told)) told[name] = null;
    take(told, event);
  };
  const open = () => {
    if (closed || resting) return;
    const opened = new EventSource(behind ? `${url}?behind` : url);
    source = opened;
    const here = (told) => (event) => {
      if (source === opened && !resting) told(JSON.parse(event.data), event);
    };
    opened.addEventListener("all", here(all));
    opened.addEventListener("some", here(take));
    opened.addEventListener("beat", here(({ now_ms: nowMs }) => {
      if (nowMs) setNow(nowMs);
      alive();
      if (stale) draw();
    }));
    opened.addEventListener("gone", toLogin);
    opened.addEventListener("error", () => {
      if (source !== opened) return;
      if (hidden && !behind) {
        retreat(); // pages that somebody sees have more need of the next line
        return;
      }
      if (opened.readyState !== EventSource.CLOSED) return; // The browser tries again by itself.
      opened.close();
      setTimeout(again, AGAIN_MS);
    });
  };
  const change = (whether) => {
    behind = whether;
    source?.close();
    open();
  };
  const again = async () => {
    if (trying || closed || resting) return;
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
  const resumed = () => {
    if (!resting) old(true);
    again();
  };
  const back = ({ persisted }) => persisted && resumed();
  /** What is shown is marked as old while nobody sees it: whoever comes back never takes it for now. */
  const rest = () => {
    resting = true;
    source?.close();
    old(true);
  };
  const retreat = () => {
    if (!keeps()) rest();
    else if (!behind) change(true);
  };
  const seen = () => {
    hidden = document.hidden ? moment() : null;
    looked = moment(); // timers of a page that nobody sees are slow
    if (hidden) return;
    if (!resting && since(heard) < STALE_MS) {
      if (behind) change(false);
      return;
    }
    behind = false;
    const slept = !resting; // with its line, and nobody knows whether that still is one
    resting = false;
    tried = moment();
    old(true);
    if (slept) again();
    else open();
  };
  document.addEventListener("freeze", left); // it would hear nothing, and keep its line
  document.addEventListener("resume", resumed);
  addEventListener("pagehide", left);
  addEventListener("pageshow", back);
  document.addEventListener("visibilitychange", seen);
  const watch = setInterval(() => {
    const stood = !hidden && since(looked) >= STALE_MS;
    looked = moment();
    if (stood && !resting) {
      resumed(); // it is no fault of the console that nothing was heard
      return;
    }
    if (!resting && hidden && since(hidden) >= REST_MS) retreat();
    if (resting) return;
    if (since(heard) < STALE_MS) return;
    if (!stale || (coming && since(tried) >= STALE_MS)) old(false);
    if (Math.min(since(heard), since(tried)) >= RETRY_MS) again();
  }, 500);

  open();
  return () => {
    closed = true;
    clearInterval(watch);
    document.removeEventListener("freeze", left);
    document.removeEventListener("resume", resumed);
    removeEventListener("pagehide", left);
    removeEventListener("pageshow", back);
    document.removeEventListener("visibilitychange", seen);
    source?.close();
  };
}

/** That what is shown is not of now, and of when it is: for `onStale`. */
export function staleWords(since, connecting) {
  const time = ofDay(since.getTime(), true);
  return connecting ? say("shell.connecting", { time }) : say("shell.stale", { time });
}

/** This moment by both clocks of a tablet: one may be set, the other may stop while it sleeps. */
function moment() {
  return { wall: Date.now(), steady: performance.now() };
}

/** Milliseconds since a moment, by the clock that says more. */
function since(one) {
  return Math.max(Date.now() - one.wall, performance.now() - one.steady);
}
