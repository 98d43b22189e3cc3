// A line above the page while the console's database accepts no writes.

import { h, shown, text } from "./dom.mjs";
import { beep } from "./sound.mjs";
import { timeOfDay } from "./time.mjs";
import { say } from "./words.mjs";

/** Put the line above a block: {draw(store)}. `store`: {since_ms, waiting, refused} or null. */
export function makeStoreLine(block, { say: voice, tell }) {
  const line = h("p", { class: "store-away", hidden: true });
  let away = false;
  block.before(line);
  return {
    draw: (store) => {
      text(line, store ? [
        say("store.away", { time: timeOfDay(store.since_ms) }),
        say("store.waiting", { n: store.waiting }),
        store.refused ? say("store.refused", { n: store.refused }) : "",
        say("store.orders"),
      ].filter(Boolean).join(" ") : "");
      shown(line, store);
      if (store && !away) {
        voice(line.textContent, { urgent: true });
        beep(2, [`store ${store.since_ms}`]);
      }
      if (away && !store) tell(say("store.back"), "ok");
      away = Boolean(store);
    },
  };
}
