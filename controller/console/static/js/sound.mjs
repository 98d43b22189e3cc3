// A sound for who asked for it: two short tones, made here, no file.

import { post } from "./api.mjs";
import { keep, kept, own } from "./kept.mjs";

/** So long a page waits for the console's word that it is the first: rather twice than never. */
const LATE_MS = 2000;
const LONGEST = 200;
const MOST = 500;

let context = null;

/** Whether this browser's person wants to hear new waits. */
export function wanted() {
  return kept(own("sound"), false);
}

/** Whether this page may sound: browsers want it pressed once, after every loading. */
export function allowed() {
  return navigator.userActivation?.hasBeenActive ?? true;
}

/** Switch the sound on or off; by a press, as browsers allow no sound before one. */
export function want(on) {
  keep(own("sound"), on);
  if (on) beep(1);
}

/** Sound, if it is wanted: the more urgent, the higher and the more often.
 *
 * `of`: what for, by names that every page of this browser has for the same: one of them sounds, the
 * first that learns of it. Without it this page does.
 */
export async function beep(times = 2, of = []) {
  if (!wanted()) return;
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
  const heard = allowed() || context.state === "running"; // else another page may be
  if (heard && of.length && !(await isFirst(of))) return;
  play(times);
}

/** Whether no other page of this browser has sounded for all of it. */
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
