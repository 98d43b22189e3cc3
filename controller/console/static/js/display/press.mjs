// A touch that becomes an order: sent once, asked after by the same id until its fate is known.

import { newId, post } from "../api.mjs";
import { because } from "../order.mjs";
import { say } from "../words.mjs";

const AGAIN_MS = 2000;
const TIMES = 5;

/** Give an order; return what a player is to read: null (done), or why not. */
export async function press(table, { cmd, args, deal, attempt }) {
  const order = { id: newId(), cmd, args, deal, attempt };
  for (let times = 0; times < TIMES; times += 1) {
    if (times) await new Promise((over) => setTimeout(over, AGAIN_MS));
    try {
      const { reply } = await post(`/api/tables/${encodeURIComponent(table)}/do`, order);
      if (reply) return reply.ok ? null : because(reply.error);
    } catch (error) {
      // A 4xx is the console's own no. Anything else: it may have acted, so ask on.
      if (error.status >= 400 && error.status < 500) return error.message;
    }
  }
  return say("display.unknown");
}
