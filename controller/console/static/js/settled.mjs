// What the page has drawn, as two attributes of the document, for a program that waits for it.
//
//   data-settled   the version of the newest event of the page's stream that is drawn
//   data-asking    how many questions to the console have no answer yet, or one that is not drawn;
//                  missing: none

import { framed } from "./dom.mjs";

const root = document.documentElement;
let open = 0;
let ended = 0;
let newest = "";

/** Note that the page was given an event of the stream, and draws it in this frame or the next one.
 *
 * `id`: the event's own, which ends with its version.
 */
export function given(id) {
  newest = id.slice(id.lastIndexOf(".") + 1);
  settle();
}

const settle = framed(() => {
  root.dataset.settled = newest;
});

/** Note that a question begins; call the returned function when its answer is known. */
export function asking() {
  open += 1;
  mark();
  return () => setTimeout(() => {
    ended += 1;
    over();
  }, 0);
}

/** The answer's own drawing was asked for before this one. */
const over = framed(() => {
  open -= ended;
  ended = 0;
  mark();
});

function mark() {
  if (open) root.dataset.asking = open;
  else delete root.dataset.asking;
}
