// Whether the console answers. Buttons for commands are disabled while it does not.

let heard = true;
/** Functions to call after a change. The references are weak, because buttons come and go. */
const drawn = new Set();

/** Return true if the page shows the present state. */
export function connected() {
  return heard;
}

/** Store whether the console answers. */
export function setConnected(whether) {
  if (heard === whether) return;
  heard = whether;
  for (const one of drawn) {
    const draw = one.deref();
    if (draw) draw();
    else drawn.delete(one);
  }
}

/** Call `draw` now and after each change, as long as other code refers to `draw`. */
export function whileConnected(draw) {
  drawn.add(new WeakRef(draw));
  draw();
}
