// The button of a command. It shows the known fate of the command:
//
//   sending…   the request was sent to the console
//   accepted   the table has answered; the effect is in its journal
//   seen       the table's own stream has reported the effect
//   refused    the table refused, with a reason; or the console could not store the command, and
//              sent nothing
//   not known  no answer arrived; the table may have acted. A repeated command acts only once
//
// A command for an earlier run of the table has not acted and never will. The page does not send it
// again. A person must look at the table first.

import { makeSender, newId, Refused } from "./api.mjs";
import { isConnected, onConnectionChange } from "./connected.mjs";
import { askConfirmation } from "./dialog.mjs";
import { attr, data, h, text } from "./dom.mjs";
import { say, textOf } from "./words.mjs";

const SEEN_FOR_MS = 6000;
/** A press this soon after an answer was meant for the button as it was before. */
const MEANT_MS = 700;
/** The error code after a restart of the table that the person did not see. */
const OTHER_RUN = "OTHER_RUN";

/** This page's commands that are not seen yet: id → function that receives their news. */
const waiting = new Map();

/** Give the news of a stream to the buttons. Call it with the `changed` of every `listen` call.
 *
 * `orders` are the table's commands {id, fate, seen?, error?}. `seen` is the number of the table's
 * own entry for the command. It is null or missing until the stream has brought it.
 */
export function updateCommandButtons(changed) {
  for (const order of changed.orders ?? []) waiting.get(order.id)?.(order);
}

/** Make a command's button: {node, offer(offer), busy()}.
 *
 * `spec`: {table, cmd, label, args?, deal?, attempt?, confirm?, kind?, note?, after?}
 *   label, kind   or functions that return them, because a command's meaning may follow the phase
 *   args      values, or a function → values (it may ask the person; null cancels)
 *   deal, attempt   numbers or functions: those on the page at the press
 *   confirm   {title, text?, yes?, danger?} or a function (args) → that, for what cannot be undone
 *   kind      "go" (the next step), "danger" or "plain" (the default)
 *   after     called with the reply after the table has accepted
 * `offer(one)`: an Offer {seats, refused} of the table, or null. A refused offer has its reason.
 */
export function makeCommandButton(spec) {
  const button = h("button", { type: "button", class: value(spec.kind) ?? "plain", onclick: press }, value(spec.label));
  const fate = h("span", { class: "fate", role: "status" });
  const again = h("button", { type: "button", class: "plain again", hidden: true, onclick: ask }, say("order.again"));
  const anew = h("button", { type: "button", class: "plain anew", hidden: true, onclick: press }, say("order.anew"));
  const why = h("small", { class: "why", id: `why-${newId().slice(0, 8)}` });
  const node = h("span", { class: "order", data: { cmd: spec.cmd } }, button, again, fate, anew, why);
  let order = null;
  let send = null;
  let refused = null;
  let over = null;
  let resting = false;

  function show(state, words) {
    clearTimeout(over);
    data(node, "fate", state);
    text(fate, words);
    again.hidden = state !== "unknown";
    anew.hidden = true;
    enabled();
    if (state === "seen") over = setTimeout(() => show(null, ""), SEEN_FOR_MS);
  }

  function busy() {
    return ["asking", "sending", "unknown"].includes(node.dataset.fate);
  }

  function enabled() {
    text(button, value(spec.label));
    attr(button, "class", value(spec.kind) ?? "plain");
    button.disabled = busy() || resting || refused !== null || !isConnected();
    text(why, refused === null || node.dataset.fate === "refused" ? "" : refused);
    attr(button, "aria-describedby", refused === null ? null : why.id);
  }

  async function press() {
    if (busy() || resting) return;
    // The command names the deal on the page at the press, even if it changes during the question.
    const [deal, attempt] = [value(spec.deal), value(spec.attempt)];
    show("asking", "");
    try {
      const args = typeof spec.args === "function" ? await spec.args() : (spec.args ?? {});
      const question = args === null || typeof spec.confirm !== "function" ? spec.confirm : spec.confirm(args);
      if (args === null || (question && !(await askConfirmation(question)))) {
        show(null, "");
        return;
      }
      if (order) waiting.delete(order.id);
      order = { id: newId(), cmd: spec.cmd, args, deal, attempt };
      send = makeSender(`/api/tables/${encodeURIComponent(spec.table)}/do`, order);
    } catch (error) {
      // The data for the question could not be read, so nothing was sent.
      show("refused", [say("order.unsent"), error.message].filter(Boolean).join(" "));
      if (!(error instanceof Refused)) throw error;
      return;
    }
    waiting.set(order.id, news);
    await ask();
  }

  async function ask() {
    show("sending", say("order.sending"));
    const asked = order;
    const { answer, unsent, unknown } = await send();
    if (order !== asked) return;
    if (answer) answered(answer);
    else if (unsent !== undefined) done("refused", `${say("order.unsent")} ${unsent}`);
    else show("unknown", [say("order.unknown"), unknown].filter(Boolean).join(" "));
  }

  function answered(answer) {
    if (!answer.reply.ok) refuse(answer.reply.error);
    else {
      resting = true;
      setTimeout(() => {
        resting = false;
        enabled();
      }, MEANT_MS);
      if (node.dataset.fate !== "seen") show("accepted", say("order.accepted"));
      else enabled(); // the button stays disabled for a moment and shows it
      spec.after?.(answer.reply);
    }
  }

  function news(told) {
    if (told.seen !== null && told.seen !== undefined) done("seen", say("order.seen"));
    else if (told.fate === "refused") refuse(told.error);
    else if (told.fate === "done" && busy()) show("accepted", say("order.accepted"));
  }

  function refuse(error) {
    done("refused", refusalText(error));
    anew.hidden = error?.code !== OTHER_RUN;
  }

  function done(state, words) {
    waiting.delete(order.id);
    show(state, words);
  }

  onConnectionChange(enabled);
  return {
    node,
    busy,
    offer: (one) => {
      refused = one?.refused ? refusalText(one.refused) : null;
      enabled();
    },
  };
}

/** Return a table's refusal in words: the cause and the action. */
export function refusalText(failure) {
  if (!failure) return say("order.refused");
  if (failure.code === OTHER_RUN) return say("order.other-run");
  const [message, action] = [textOf({ zh: failure.message_zh, en: failure.message }), textOf({ zh: failure.action_zh, en: failure.action })];
  return [message, action].filter(Boolean).join(say("order.then"));
}

function value(one) {
  return (typeof one === "function" ? one() : one) ?? null;
}
