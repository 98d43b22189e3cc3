// The console's time. The clock of a tablet may be wrong by hours.

import { say } from "./words.mjs";

let serverMs = Date.now();
let atMs = performance.now();

/** Set the console's time from a stream or an answer. */
export function setNow(nowMs) {
  serverMs = nowMs;
  atMs = performance.now();
}

/** Return the milliseconds since 1970 by the console's clock. */
export function now() {
  return serverMs + (performance.now() - atMs);
}

/** Format a duration: 3:20, 1:03:20. Negative durations are 0:00. */
export function durationText(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n) => String(n).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, two(s % 60)];
  return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** Format a duration for a screen reader: "3 minutes 20 seconds". */
export function spokenDuration(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  return s < 60
    ? say("time.seconds", { s })
    : say("time.minutes", { m: Math.floor(s / 60), s: s % 60 });
}

/** Format the time of day of a moment in milliseconds since 1970: 14:03, optionally with seconds. */
export function timeOfDay(ms, seconds = false) {
  const at = new Date(ms);
  const two = (n) => String(n).padStart(2, "0");
  const short = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return seconds ? `${short}:${two(at.getSeconds())}` : short;
}

/** Return the seconds left on a table's clock (a clock of the state, received `sinceMs` ago). */
export function secondsLeft(clock, sinceMs = 0) {
  if (!clock) return null;
  return clock.running ? clock.left_s - sinceMs / 1000 : clock.left_s;
}
