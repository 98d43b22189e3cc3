// A sound for who asked for it: two short tones, made here, no file.

import { keep, kept, own } from "./kept.mjs";

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

/** Sound, if it is wanted: the more urgent, the higher and the more often. */
export function beep(times = 2) {
  if (!wanted()) return;
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
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
