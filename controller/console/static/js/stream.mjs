// The stream of a page: first all parts, then the changed ones. It detects silence and reconnects.
//
// A browser allows six connections to one address. The console gives its pages fewer, and closes one
// for another. A page without a connection reconnects by itself (`retry`) and receives what changed
// since. People notice only a short pause.

import { openLoginPage } from "./api.mjs";
import { framed } from "./dom.mjs";
import { markEventReceived } from "./settled.mjs";
import { now, setNow, timeOfDay } from "./time.mjs";
import { say } from "./words.mjs";

const STALE_MS = 4000;
const AGAIN_MS = 2000;
/** The interval of new connections. A connection can end without any message to the page. */
const RETRY_MS = 6000;
/** A page that is hidden for this time closes its connection, or shares one if it has sound. */
const REST_MS = 20_000;

/** Read a stream of the console until the returned function is called.
 *
 * `onParts(changed, parts)` is called at most once a frame. `changed` has the parts that are new
 * since the last call (null: removed). `parts` is a Map of all parts. `onStale(since, connecting)`
 * is called when the page shows the state of an earlier moment `since` (a Date), and with null when
 * it shows the present again. `connecting`: the page was hidden or suspended and now reconnects;
 * otherwise nothing was received for 4 s. `keeps()`: True if a hidden page must continue to receive,
 * because it has sound. All such pages of this browser share one connection in turns.
 */
export function listen(url, onParts, onStale = () => {}, keeps = () => false) {
  const parts = new Map();
  let changed = {};
  let newest = ""; // the id of the newest event with parts
  let source = null;
  let heard = moment();
  let tried = heard;
  let trying = false;
  /** `stale`: the page was marked as old. `current`: something was received since then. */
  let stale = false;
  let current = false;
  /** True if the mark says "connecting", not "nothing received". */
  let coming = false;
  /** The time of the last timer call. It is long ago after the page was suspended. */
  let looked = heard;
  let closed = false;
  let hidden = document.hidden ? moment() : null;
  let resting = Boolean(hidden) && !keeps(); // a page that opens in the background waits until it is visible
  let behind = Boolean(hidden) && keeps();
  const draw = framed(() => {
    const news = changed;
    changed = {};
    if (closed) return;
    onParts(news, parts);
    markEventReceived(newest);
    if (!stale || !current) return;
    stale = false; // only when the present state is drawn
    onStale(null, false);
  });

  const old = (connecting) => {
    current = false;
    if (connecting && !parts.size) return; // the page shows no state yet
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
    opened.addEventListener("gone", openLoginPage);
    opened.addEventListener("error", () => {
      if (source !== opened) return;
      if (hidden && !behind) {
        retreat(); // visible pages need the next connection more
        return;
      }
      if (opened.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
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
        openLoginPage();
        return;
      }
    } catch {
      // The console does not answer. The stream will report that, too.
    } finally {
      trying = false;
    }
    source?.close();
    open();
  };
  // A browser may keep a page that was left, with its connection. It has only six of them.
  const left = () => source?.close();
  const resumed = () => {
    if (!resting) old(true);
    again();
  };
  const back = ({ persisted }) => persisted && resumed();
  /** Close the connection and mark the page as old while it is hidden, before a person returns. */
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
    looked = moment(); // timers of a hidden page are slow
    if (hidden) return;
    if (!resting && since(heard) < STALE_MS) {
      if (behind) change(false);
      return;
    }
    behind = false;
    const slept = !resting; // it had a connection, which may be broken
    resting = false;
    tried = moment();
    old(true);
    if (slept) again();
    else open();
  };
  document.addEventListener("freeze", left); // a frozen page would keep its connection and receive nothing
  document.addEventListener("resume", resumed);
  addEventListener("pagehide", left);
  addEventListener("pageshow", back);
  document.addEventListener("visibilitychange", seen);
  const watch = setInterval(() => {
    const stood = !hidden && since(looked) >= STALE_MS;
    looked = moment();
    if (stood && !resting) {
      resumed(); // the page was suspended; the console is not silent
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

/** Return the text for `onStale`: the page does not show the present, but an earlier moment. */
export function staleText(since, connecting) {
  const time = timeOfDay(since.getTime(), true);
  return connecting ? say("shell.connecting", { time }) : say("shell.stale", { time });
}

/** Return this moment by two clocks. A person may set one; the other may stop during sleep. */
function moment() {
  return { wall: Date.now(), steady: performance.now() };
}

/** Return the milliseconds since a moment, by the clock that shows more. */
function since(one) {
  return Math.max(Date.now() - one.wall, performance.now() - one.steady);
}
