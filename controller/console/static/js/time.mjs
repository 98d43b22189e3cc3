// The console's time: a tablet's own clock may be wrong by hours.

import { say } from "./words.mjs";

let serverMs = Date.now();
let atMs = performance.now();

/** Learn the console's time from a stream or an answer. */
export function setNow(nowMs) {
  serverMs = nowMs;
  atMs = performance.now();
}

/** Milliseconds since 1970 by the console's clock. */
export function now() {
  return serverMs + (performance.now() - atMs);
}

/** A length of time: 3:20, 1:03:20. Negative ones are 0:00. */
export function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n) => String(n).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, two(s % 60)];
  return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** A length of time for a voice: "3 minutes 20 seconds". */
export function spoken(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  return s < 60
    ? say("time.seconds", { s })
    : say("time.minutes", { m: Math.floor(s / 60), s: s % 60 });
}

/** The time of day of a moment in milliseconds since 1970: 14:03, with seconds if wanted. */
export function ofDay(ms, seconds = false) {
  const at = new Date(ms);
  const two = (n) => String(n).padStart(2, "0");
  const short = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return seconds ? `${short}:${two(at.getSeconds())}` : short;
}

/** Seconds left on a table's clock (`Clock` of the state, as it stood `sinceMs` ago). */
export function left(clock, sinceMs = 0) {
  if (!clock) return null;
  return clock.running ? clock.left_s - sinceMs / 1000 : clock.left_s;
}
