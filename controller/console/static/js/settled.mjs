// Two attributes of the document for programs that wait until the page is drawn.
//
//   data-settled   the version of the newest event of the stream that is drawn
//   data-asking    the number of requests whose answers are not received and drawn; missing: none

import { framed } from "./dom.mjs";

const root = document.documentElement;
let open = 0;
let ended = 0;
let newest = "";

/** Store that the page received an event of the stream. It is drawn in this frame or the next.
 *
 * `id`: the id of the event. It ends with the version.
 */
export function markEventReceived(id) {
  newest = id.slice(id.lastIndexOf(".") + 1);
  settle();
}

const settle = framed(() => {
  root.dataset.settled = newest;
});

/** Store that a request begins. Call the returned function when its answer is known. */
export function markRequestStarted() {
  open += 1;
  mark();
  return () => setTimeout(() => {
    ended += 1;
    over();
  }, 0);
}

/** The answer's own drawing was requested earlier, so it runs before this one. */
const over = framed(() => {
  open -= ended;
  ended = 0;
  mark();
});

function mark() {
  if (open) root.dataset.asking = open;
  else delete root.dataset.asking;
}
