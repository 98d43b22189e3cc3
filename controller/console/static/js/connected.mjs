// Whether the console answers. Buttons for commands are disabled while it does not.

let consoleAnswers = true;
/** Functions to call after a change. The references are weak, because buttons come and go. */
const listeners = new Set();

/** Return true if the page shows the present state. */
export function isConnected() {
  return consoleAnswers;
}

/** Store whether the console answers. */
export function setConnected(whether) {
  if (consoleAnswers === whether) return;
  consoleAnswers = whether;
  for (const one of listeners) {
    const draw = one.deref();
    if (draw) draw();
    else listeners.delete(one);
  }
}

/** Call `draw` now and after each change, as long as other code refers to `draw`. */
export function onConnectionChange(draw) {
  listeners.add(new WeakRef(draw));
  draw();
}
