// The transfer of a match to another table. Each step can be repeated.
//
// transfer (it leaves) → document (it is read) → take_over (it arrives). The console executes the
// steps. This module shows the progress, and the next action if a table refuses.

import { get, newId, post } from "../api.mjs";
import { fill, h, text } from "../dom.mjs";
import { askValues } from "../dialog.mjs";
import { say, textOf } from "../words.mjs";

/** Ask for the other table, and transfer the match. */
export async function transferMatch(ctx, cmd) {
  const here = ctx.table;
  const about = await get(`/api/tables/${encodeURIComponent(here)}/carry`).catch((error) => {
    ctx.top.tell(error.message, "bad");
    return null;
  });
  if (about === null) return;
  const incoming = cmd === "take_over";
  const others = incoming ? about.incoming : about.tables;
  const choices = others.map((one) => [one.table, [one.table, textOf(one)].filter(Boolean).join(" · ")]);
  const known = about.left && !incoming ? say("table.carry.left", { match: about.left.match, to: about.left.to }) : say("table.carry.text");
  if (!choices.length) {
    ctx.top.tell(incoming ? say("table.carry.none-coming") : say("table.carry.none"), "bad");
    return;
  }
  const fields = [{
    name: "table", kind: "choice", required: true, choices, label: incoming ? say("table.carry.take") : say("table.arg.table"),
    value: about.left?.to ?? (choices.length === 1 ? choices[0][0] : undefined),
  }];
  if (ctx.me.role !== "chief") {
    fields.push({ name: "by", kind: "text", required: true, label: say("table.arg.by"), hint: say("table.hint.by"), max: 64 });
  }
  const values = await askValues({
    title: incoming ? say("table.carry.take") : say("table.carry.title", { match: about.left?.match ?? ctx.state.match.match ?? "" }),
    text: known, fields, yes: say("table.carry.go"), danger: true,
  });
  if (values === null) return;
  const [from, to] = incoming ? [values.table, here] : [here, values.table];
  await showTransfer(ctx, { from, to, by: values.by });
}

/** Show the progress of the steps until the match arrives or the person closes the question. */
function showTransfer(ctx, { from, to, by }) {
  const list = h("ol", { class: "steps" });
  const said = h("p", { class: "said", role: "status" }, say("order.sending"));
  const again = h("button", { type: "button", class: "go", hidden: true, onclick: () => step() }, say("table.carry.again"));
  const there = h("a", { class: "button", href: `/table/${encodeURIComponent(to)}`, hidden: true }, say("table.carry.open", { to }));
  const close = h("button", { class: "plain" }, say("dialog.close"));
  const head = h("h2", { id: "carry-head" }, `${from} → ${to}`);
  const box = h("dialog", { class: "ask", "aria-labelledby": head.id },
    h("form", { method: "dialog" }, head, list, said, h("footer", null, close, there, again)));
  document.body.append(box);
  let id = newId();

  async function step() {
    again.hidden = true;
    text(said, say("order.sending"));
    try {
      const answer = await post(`/api/tables/${encodeURIComponent(from)}/carry`, { id, to, ...(by ? { by } : {}) });
      fill(list, answer.steps.map((one) => h("li", { data: { fate: one.fate } },
        say(`table.carry.${one.step}`, { part: one.part, parts: one.parts }), " ", say(`table.fate.${one.fate}`), textOf(one) ? say("table.carry.why", { why: textOf(one) }) : "")));
      if (answer.done) {
        text(said, say("table.carry.done", { match: answer.match, to }));
        there.hidden = false;
        return;
      }
      // An unknown step is repeated with the same id. A refused step needs a new command.
      if (answer.steps.some((one) => one.fate === "refused")) id = newId();
      text(said, "");
    } catch (error) {
      text(said, error.message);
    }
    again.hidden = false;
    again.focus();
  }

  return new Promise((settle) => {
    box.addEventListener("close", () => {
      box.remove();
      settle();
    });
    box.showModal();
    step();
  });
}
