// Two short tones for people who switched the sound on. They are made here, without a file.

import { post } from "./api.mjs";
import { ownKey, storedValue, storeValue } from "./storage.mjs";

/** The time to wait for the console's answer. A doubled sound is better than none. */
const LATE_MS = 2000;
const LONGEST = 200;
const MOST = 500;

let context = null;

/** Return true if this browser's person wants to hear new waits. */
export function isSoundOn() {
  return storedValue(ownKey("sound"), false);
}

/** Return true if this page may sound. Browsers require a press after each loading. */
export function maySound() {
  return navigator.userActivation?.hasBeenActive ?? true;
}

/** Switch the sound on or off. Call it from a press, because browsers allow no sound before one. */
export function switchSound(on) {
  storeValue(ownKey("sound"), on);
  if (on) beep(1);
}

/** Sound if the person wants it. More tones mean more urgent.
 *
 * `of`: names of the reasons, the same on every page of this browser. Only the page that learns of
 * them first sounds. Without names, this page sounds.
 */
export async function beep(times = 2, of = []) {
  if (!isSoundOn()) return;
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
  const heard = maySound() || context.state === "running"; // otherwise another page may be able to sound
  if (heard && of.length && !(await isFirst(of))) return;
  play(times);
}

/** Return true if no other page of this browser has sounded for all of these names. */
async function isFirst(of) {
  const late = new Promise((go) => {
    setTimeout(go, LATE_MS, { ring: true });
  });
  const asked = post("/api/ring", { of: of.slice(0, MOST).map((one) => one.slice(0, LONGEST)) });
  const { ring } = await Promise.race([asked.catch(() => ({ ring: true })), late]);
  return ring;
}

function play(times) {
  for (let at = 0; at < times; at += 1) {
    const tone = context.createOscillator();
    const loud = context.createGain();
    const start = context.currentTime + at * 0.22;
    tone.frequency.value = at % 2 ? 880 : 660;
    loud.gain.setValueAtTime(0.0001, start);
    loud.gain.exponentialRampToValueAtTime(0.25, start + 0.02);
    loud.gain.exponentialRampToValueAtTime(0.0001, start + 0.18);
    tone.connect(loud).connect(context.destination);
    tone.start(start);
    tone.stop(start + 0.2);
  }
}
