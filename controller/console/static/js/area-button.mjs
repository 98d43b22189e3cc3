// One order for every table of an area, and what must be known before it is given.

import { newId, post } from "./api.mjs";
import { ask, confirmed } from "./dialog.mjs";
import { fill, h } from "./dom.mjs";
import { say } from "./words.mjs";

/** Make a button that gives one command to every table of an area, and says what became of it.
 *
 * `view()`: the area as it is; `tableOf(area, name)`: its table that people call so, or null.
 */
export function areaButton(area, act, label, kind, fate, tell, view, tableOf) {
  const button = h("button", { type: "button", class: kind }, label);
  let order = null;

  async function press() {
    const body = order ?? (await question(act, area, view(), tableOf));
    if (!body) return;
    order = body;
    button.disabled = true;
    fill(fate, say("area.sending"));
    try {
      const answer = await post(`/api/areas/${encodeURIComponent(area)}/${act}`, order);
      order = null;
      // What became of it table by table comes by the stream, to everybody's page.
      fill(fate, Object.keys(answer.tables).length ? "" : say("area.nobody"));
    } catch (error) {
      // Nothing is known: the same id again acts once. What the console refused was not sent.
      if ((error.status >= 400 && error.status < 500) || error.status === 503) order = null;
      fill(fate, `${error.message} ${order ? say("area.again") : ""}`);
      tell(error.message, "bad");
    } finally {
      button.disabled = false;
    }
  }

  button.addEventListener("click", press);
  return button;
}

/** Ask what must be known before all tables of an area do something: the request, or null. */
async function question(act, area, view, tableOf) {
  const title = say(`area.${act}-title`, { area });
  const id = newId();
  if (act === "start") {
    const text_ = say("area.start-text", { n: view.not_started, dark: view.tables.length - view.live });
    return (await confirmed({ title, text: text_, yes: say("area.start") })) ? { id } : null;
  }
  if (act === "resume") {
    return (await confirmed({ title, text: say("area.resume-text"), yes: say("area.resume") })) ? { id } : null;
  }
  if (act === "hold") {
    const values = await ask({
      title, text: say("area.hold-text"), yes: say("area.hold"),
      fields: [{ name: "reason", kind: "text", label: say("area.reason"), required: true, max: 100 }],
    });
    return values && { id, ...values };
  }
  const values = await ask({
    title, text: say("area.time-text"),
    fields: [
      { name: "minutes", kind: "int", label: say("area.minutes"), required: true, min: 1, max: 120 },
      { name: "tables", kind: "text", label: say("area.which"), hint: say("area.which-hint") },
    ],
    check: ({ tables }) => {
      const unknown = names(tables).filter((one) => !view.tables.includes(tableOf(area, one)));
      return unknown.length ? say("area.no-table", { tables: unknown.join(" ") }) : "";
    },
  });
  if (!values) return null;
  const tables = names(values.tables).map((one) => tableOf(area, one));
  return { id, seconds: values.minutes * 60, ...(tables.length ? { tables } : {}) };
}

function names(text_) {
  return (text_ ?? "").split(/[\s,，、]+/).filter(Boolean);
}
