// The people of the console. Each is invited with a code that works once and for a limited time.

import { del, get, post } from "../api.mjs";
import { askConfirmation, askValues, showMessage } from "../dialog.mjs";
import { fill, h, s } from "../dom.mjs";
import { language, say } from "../words.mjs";

const ROLES = ["referee", "table", "observer", "technician", "chief"]; // only a chief may invite a chief

export class People {
  constructor(node, button, top) {
    this.node = node;
    this.top = top;
    this.tables = [];
    this.chief = false; // true if a chief sees this page
    button.addEventListener("click", () => this.invite());
  }

  async look() {
    try {
      const { people, now_ms: nowMs } = await get("/api/people");
      fill(this.node, people.map((one) => this.line(one, nowMs)));
    } catch (error) {
      this.top.tell(error.message, "bad");
    }
  }

  line(one, nowMs) {
    const role = one.table ? `${say(`role.${one.role}`)} ${one.table}` : say(`role.${one.role}`);
    return h("li", null, h("p", { class: "line" }, h("b", null, one.name), h("span", null, role), invitation(one, nowMs),
      h("button", { class: "small", onclick: () => this.code({ name: one.name, role: one.role, language: one.language, ...(one.table ? { table: one.table } : {}) }) }, say("setup.new-code")),
      h("button", { class: "small", onclick: () => this.remove(one.name) }, say("setup.remove-person"))));
  }

  async invite() {
    const said = await askValues({
      title: say("setup.invite"),
      text: say("setup.invite-text"),
      fields: [
        { name: "name", kind: "text", label: say("setup.person"), required: true, max: 40 },
        { name: "role", kind: "choice", label: say("setup.role"), value: "referee", required: true, choices: ROLES.slice(0, this.chief ? 5 : 4).map((role) => [role, say(`role.${role}`)]) },
        { name: "table", kind: "choice", label: say("setup.which-table"), hint: say("setup.which-table-hint"), choices: this.tables.map((id) => [id, id]) },
        { name: "language", kind: "choice", label: say("setup.language"), value: language, required: true, choices: language === "zh" ? [["zh", "中文"], ["en", "English"]] : [["en", "English"], ["zh", "中文"]] },
      ],
      yes: say("setup.make-code"),
      check: ({ role, table }) => (role === "table" && !table ? say("setup.table-missing") : null),
    });
    if (!said) return;
    if (said.role !== "table") delete said.table;
    await this.code(said);
  }

  async code(wish) {
    try {
      const { code, name, until_ms: untilMs } = await post("/api/people", wish);
      const { address, rows } = await post("/api/setup/qr", { code });
      await showMessage({
        title: say("setup.code-title", { name }),
        text: say("setup.code-text"),
        more: [h("p", { class: "code" }, code), h("p", null, say("setup.code-until", { time: moment(untilMs) })), h("div", { class: "qr" }, drawn(rows, address)), h("p", { class: "quiet" }, address.replace(/#.*/, "")),
          /\/\/(127\.|localhost|\[::1\])/.test(address) ? h("p", { class: "todo" }, say("setup.only-here")) : null],
      });
    } catch (error) {
      this.top.tell(error.message, "bad");
    }
    this.look();
  }

  async remove(name) {
    const sure = await askConfirmation({ title: say("setup.remove-person-title", { name }), text: say("setup.remove-person-text"), yes: say("setup.remove-person"), danger: true });
    if (!sure) return;
    try {
      await del("/api/people", { name });
    } catch (error) {
      this.top.tell(error.message, "bad");
    }
    this.look();
  }
}

/** Show the state of an invitation: until when it is valid, or that it expired unused. */
function invitation({ invited_until_ms: untilMs, has_pin: hasPin }, nowMs) {
  if (untilMs === null) return null;
  if (untilMs > nowMs) return h("span", { class: "quiet" }, say("setup.invited-until", { time: moment(untilMs) }));
  return hasPin ? null : h("span", { class: "todo" }, say("setup.invitation-over"));
}

/** Format a date and time as people write it. */
function moment(ms) {
  const parts = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false };
  return new Date(ms).toLocaleString(language === "zh" ? "zh-CN" : "en-GB", parts);
}

/** Draw a code to scan from its rows: black on white in every theme. */
function drawn(rows, words) {
  const path = rows.flatMap((row, y) => Array.from(row, (dark, x) => (dark === "1" ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return s("svg", { viewBox: `0 0 ${rows.length} ${rows.length}`, role: "img", "aria-label": words, "shape-rendering": "crispEdges" },
    s("rect", { width: rows.length, height: rows.length, fill: "#fff" }), s("path", { d: path, fill: "#000" }));
}
