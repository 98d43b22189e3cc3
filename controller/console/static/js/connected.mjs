// Whether the console is heard: what orders something rests while it is not.

let heard = true;
/** What is drawn anew when that changes: weakly held, as buttons come and go. */
const drawn = new Set();

/** Whether what the page shows is of now. */
export function connected() {
  return heard;
}

/** Note whether the console is heard. */
export function setConnected(whether) {
  if (heard === whether) return;
  heard = whether;
  for (const one of drawn) {
    const draw = one.deref();
    if (draw) draw();
    else drawn.delete(one);
  }
}

/** Call `draw` now and whenever that changes, as long as something else keeps `draw`. */
export function whileConnected(draw) {
  drawn.add(new WeakRef(draw));
  draw();
}
