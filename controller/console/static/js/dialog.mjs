// Questions to a person in the browser's own <dialog>, which manages focus and the Escape key.

import { h } from "./dom.mjs";
import { field } from "./fields.mjs";
import { say } from "./words.mjs";

/** Ask for values. Return them by name, or null if the person cancels.
 *
 * `form`: {title, text?, more? (a node or a list of them), fields: [field…], yes?, no?,
 * danger?: true, check?(values) → an error text, or nothing}. See fields.mjs for fields.
 */
export function askValues(form) {
  const fields = (form.fields ?? []).map(field);
  const wrong = h("p", { class: "wrong", role: "alert" });
  const title = h("h2", { id: fresh() }, form.title);
  const no = h("button", { type: "button", class: "plain" }, form.no ?? say("dialog.no"));
  const yes = h(
    "button",
    { type: "submit", class: form.danger ? "danger" : "go" },
    form.yes ?? say("dialog.yes"),
  );
  const body = h(
    "form",
    { method: "dialog", novalidate: true },
    title,
    form.text ? h("p", { class: "said" }, form.text) : null,
    form.more,
    fields.map((one) => one.node),
    wrong,
    h("footer", null, no, yes),
  );
  const box = h("dialog", { class: "ask", "aria-labelledby": title.id }, body);
  document.body.append(box);

  return new Promise((settle) => {
    const over = (values) => {
      if (box.open) box.close();
      box.remove();
      settle(values);
    };
    no.addEventListener("click", () => over(null));
    box.addEventListener("cancel", () => over(null));
    box.addEventListener("close", () => over(null));
    body.addEventListener("submit", (event) => {
      event.preventDefault();
      const values = {};
      for (const one of fields) {
        const { value, fault } = one.read();
        if (fault) {
          wrong.textContent = fault;
          one.focus();
          return;
        }
        if (value !== undefined) values[one.name] = value;
      }
      const fault = form.check?.(values);
      if (fault) {
        wrong.textContent = fault;
        return;
      }
      over(values);
    });
    box.showModal();
    // An action that cannot be undone must not be the default of the Enter key.
    if (form.danger && fields.length === 0) no.focus();
    else if (fields.length) fields[0].focus();
    else yes.focus();
  });
}

/** Ask for a confirmation. Return true if it is given. `danger`: the action cannot be undone. */
export async function askConfirmation({ title, text, more, yes, no, danger = false }) {
  return (await askValues({ title, text, more, yes, no, danger })) !== null;
}

/** Show a message with one button that closes it. `close`: another text for the button. */
export function showMessage({ title, text, more, close: words }) {
  const close = h("button", { class: words ? "plain" : "go" }, words ?? say("dialog.close"));
  const head = h("h2", { id: fresh() }, title);
  const box = h(
    "dialog",
    { class: "ask", "aria-labelledby": head.id },
    h("form", { method: "dialog" }, head, text ? h("p", { class: "said" }, text) : null, more,
      h("footer", null, close)),
  );
  document.body.append(box);
  return new Promise((settle) => {
    box.addEventListener("close", () => {
      box.remove();
      settle();
    });
    box.showModal();
    close.focus();
  });
}

let ids = 0;

function fresh() {
  ids += 1;
  return `dialog-${ids}`;
}
