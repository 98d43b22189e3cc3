// A touch that becomes a command. It is sent once; its fate is then requested with the same id.

import { makeSender, newId } from "../api.mjs";
import { refusalText } from "../command-button.mjs";
import { say } from "../words.mjs";

const AGAIN_MS = 2000;
const TIMES = 5;

/** Send a command. Return null if it was done, else the reason in words for the player. */
export async function sendPress(table, { cmd, args, deal, attempt }) {
  const order = { id: newId(), cmd, args, deal, attempt };
  const send = makeSender(`/api/tables/${encodeURIComponent(table)}/do`, order);
  for (let times = 0; times < TIMES; times += 1) {
    if (times) await new Promise((over) => setTimeout(over, AGAIN_MS));
    const { answer, unsent } = await send();
    if (answer) return answer.reply.ok ? null : refusalText(answer.reply.error);
    if (unsent !== undefined) return unsent;
  }
  return say("display.unknown");
}
