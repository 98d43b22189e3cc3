// One command for every table of an area, and the question before it.

import { makeSender, newId } from "./api.mjs";
import { isConnected, onConnectionChange } from "./connected.mjs";
import { askConfirmation, askValues } from "./dialog.mjs";
import { attr, fill, h, text } from "./dom.mjs";
import { say } from "./words.mjs";

/** Make a button that sends one command to every table of an area, and shows the result:
 * {node, offer(whether)}. A button that is not offered cannot be pressed.
 *
 * While the result is unknown, a line below `fate` has a button that sends the same command again.
 * The main button sends a new command. `view()`: the present state of the area. `tableOf(area,
 * name)`: the area's table with this number or id, or null.
 */
export function makeAreaButton(area, act, label, kind, fate, tell, view, tableOf) {
  const button = h("button", { type: "button", class: kind }, label);
  const words = h("span", null);
  const again = h("button", { type: "button", class: "plain small again", onclick: give }, say("order.again"));
  attr(again, "aria-label", `${say("order.again")}: ${label}`);
  const unsure = h("p", { class: "fate unsure", role: "status" }, words, " ", again);
  let send = null;
  let sending = false;
  let offered = true;

  function enabled() {
    button.disabled = sending || !offered || !isConnected();
    again.disabled = sending;
  }

  async function press() {
    const body = await question(act, area, view(), tableOf);
    if (!body) return;
    send = makeSender(`/api/areas/${encodeURIComponent(area)}/${act}`, body);
    unsure.remove();
    await give();
  }

  async function give() {
    sending = true;
    enabled();
    fill(fate, say("area.sending"));
    const { answer, unsent, unknown } = await send();
    sending = false;
    enabled();
    // The stream brings the result of each table to every page.
    if (answer) fill(fate, Object.keys(answer.tables).length ? "" : say("area.nobody"));
    else fill(fate, unsent === undefined ? "" : `${say("order.unsent")} ${unsent}`);
    if (unknown === undefined) unsure.remove();
    else if (!unsure.isConnected) fate.after(unsure);
    text(words, `${label}: ${say("order.unknown")} ${unknown ?? ""}`);
    if (!answer) tell(unsent ?? unknown, "bad");
  }

  button.addEventListener("click", press);
  onConnectionChange(enabled);
  return {
    node: button,
    offer: (whether) => {
      offered = whether;
      enabled();
    },
  };
}

/** Ask the person for the details of an area's command. Return the request, or null. */
async function question(act, area, view, tableOf) {
  const title = say(`area.${act}-title`, { area });
  const id = newId();
  if (act === "start") {
    const text_ = say("area.start-text", { n: view.not_started, dark: view.tables.length - view.live });
    return (await askConfirmation({ title, text: text_, yes: say("area.start") })) ? { id } : null;
  }
  if (act === "resume") {
    return (await askConfirmation({ title, text: say("area.resume-text"), yes: say("area.resume") })) ? { id } : null;
  }
  if (act === "hold") {
    const values = await askValues({
      title, text: say("area.hold-text"), yes: say("area.hold"),
      fields: [{ name: "reason", kind: "text", label: say("area.reason"), required: true, max: 100 }],
    });
    return values && { id, ...values };
  }
  const values = await askValues({
    title, text: say("area.time-text"),
    fields: [
      { name: "seconds", kind: "span", label: say("area.length"), required: true, min: 1, max: 7200 },
      { name: "tables", kind: "text", label: say("area.which"), hint: say("area.which-hint") },
    ],
    check: ({ tables }) => {
      const unknown = names(tables).filter((one) => !view.tables.includes(tableOf(area, one)));
      return unknown.length ? say("area.no-table", { tables: unknown.join(" ") }) : "";
    },
  });
  if (!values) return null;
  const tables = names(values.tables).map((one) => tableOf(area, one));
  return { id, seconds: values.seconds, ...(tables.length ? { tables } : {}) };
}

function names(text_) {
  return (text_ ?? "").split(/[\s,，、]+/).filter(Boolean);
}
