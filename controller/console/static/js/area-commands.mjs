// The commands for a whole area: the progress at each table, and the buttons to continue.
//
//   unsent     the console has sent nothing: the table was silent, or the database was away
//   sent       no answer yet
//   silent     no answer arrived; the table may have acted. A repeated command acts only once
//   accepted   the table has answered; the effect is in its journal
//   seen       the table's own journal has reported it
//   refused    the table refused, with a reason. A person can send a new command

import { makeSender, newId, post } from "./api.mjs";
import { askConfirmation } from "./dialog.mjs";
import { attr, data, fill, h, keyed, shown, text } from "./dom.mjs";
import { compareNames } from "./compare-names.mjs";
import { refusalText } from "./command-button.mjs";
import { timeOfDay } from "./time.mjs";
import { say } from "./words.mjs";

const SIGNS = { unsent: "–", sent: "…", silent: "?", accepted: "✓", seen: "✓✓", refused: "✕" };
/** The order in which the fates are listed: first those that need a person. */
const FATE_ORDER = Object.keys(SIGNS).sort((a, b) => rank(a) - rank(b));

function rank(fate) {
  return ["refused", "silent", "unsent", "sent", "accepted", "seen"].indexOf(fate);
}

/** Make the list of an area's commands: {node, draw(acts, me)}. `tell(words, kind)` shows a line. */
export function makeAreaCommandList(area, tell) {
  const node = h("div", { class: "acts" });
  const nodes = new Map();
  const lines = new Map();
  return {
    node,
    draw: (acts, me) => {
      const found = acts.filter((act) => act.area === area);
      keyed(node, nodes, found.map((act) => act.id), (id) => {
        const made = makeAreaCommandLine(area, tell);
        lines.set(id, made);
        return made.node;
      });
      for (const id of lines.keys()) if (!nodes.has(id)) lines.delete(id);
      for (const act of found) lines.get(act.id).draw(act, me);
      shown(node, found.length);
    },
  };
}

function makeAreaCommandLine(area, tell) {
  const what = h("b");
  const sums = h("span", { class: "sums" });
  const list = h("ul", { role: "list" });
  const again = h("button", { type: "button", class: "plain small", onclick: () => press(again, askAgain) });
  const anew = h("button", { type: "button", class: "plain small", onclick: () => press(anew, orderAnew) });
  const unsure = h("button", { type: "button", class: "plain small again", onclick: () => press(unsure, give) }, say("order.again"));
  const hand = h("div", { class: "hand" }, again, anew, unsure);
  const node = h("section", null, h("p", null, what, " ", sums), list, hand);
  let act = null;
  let may = false;
  /** The new command from this page: {tables, send, lost}. `lost`: True if its fate is unknown. */
  let open = null;

  /** The tables with one of these fates. */
  function of(...fates) {
    return act.tables.filter((one) => fates.includes(one.fate)).map((one) => one.table).sort(compareNames);
  }

  async function press(button, order) {
    button.disabled = true;
    try {
      await order();
    } catch (error) {
      tell(error.message, "bad");
    } finally {
      button.disabled = false;
    }
  }

  function askAgain() {
    return post(`/api/acts/${encodeURIComponent(act.id)}/again`);
  }

  /** Send a new command to the tables that refused. They have not acted. */
  async function orderAnew() {
    const tables = of("refused");
    const title = say("area.anew-title", { act: say(`area-act.${act.act}`), tables: tables.join(" ") });
    if (!(await askConfirmation({ title, text: say("area.anew-text"), yes: say("order.anew") }))) return;
    const said = { reason: act.reason ?? undefined, seconds: act.seconds ?? undefined };
    const path = `/api/areas/${encodeURIComponent(area)}/${act.act}`;
    const left = tables.filter((table) => of("refused").includes(table)); // some may have changed while the question was open
    if (!left.length) return;
    open = { tables: left, send: makeSender(path, { id: newId(), tables: left, ...said }), lost: false };
    await give();
  }

  /** Send the same command again. A new command would add its time twice. */
  async function give() {
    const given = open;
    const { answer, unsent, unknown } = await given.send();
    if (!answer) tell(unsent ?? `${say("order.unknown")} ${unknown}`, "bad");
    given.lost = unknown !== undefined;
    if (!given.lost && open === given) open = null;
    offer();
  }

  function offer() {
    const refused = of("refused");
    // A newer line shows the commands that were sent again since then, here or by another person.
    if (open && !open.tables.every((table) => refused.includes(table))) open = null;
    shown(anew, may && refused.length && !open?.lost);
    text(anew, say("area.anew", { n: refused.length }));
    attr(anew, "aria-label", `${say("area.anew", { n: refused.length })}: ${refused.join(" ")}`);
    shown(unsure, may && open?.lost);
    attr(unsure, "aria-label", `${say("order.again")}: ${(open?.tables ?? []).join(" ")}`);
  }

  return {
    node,
    draw: (told, me) => {
      act = told;
      may = me?.role === "chief";
      const [due, refused] = [of("unsent", "silent"), of("refused")];
      data(node, "open", due.length || refused.length ? "yes" : null);
      const how = { act: say(`area-act.${act.act}`), person: act.person, time: timeOfDay(act.at_ms) };
      text(what, act.reason ? say("area.act-why", { ...how, why: act.reason }) : say("area.act", how));
      text(sums, FATE_ORDER.map((fate) => [fate, of(fate).length]).filter(([, n]) => n)
        .map(([fate, n]) => `${SIGNS[fate]} ${say(`area-fate.${fate}`, { n })}`).join(" · "));
      const undone = act.tables.filter((one) => ["refused", "silent", "unsent"].includes(one.fate))
        .sort((a, b) => rank(a.fate) - rank(b.fate) || compareNames(a.table, b.table));
      fill(list, undone.map((one) => h("li", { data: { fate: one.fate } },
        h("b", null, `${SIGNS[one.fate]} ${one.table}`), ` ${one.error ? refusalText(one.error) : say(`area-why.${one.fate}`)}`)),
      act.unheard.length ? h("li", null, h("b", null, `– ${[...act.unheard].sort(compareNames).join(" ")}`), ` ${say("area.unheard")}`) : null);
      shown(list, undone.length || act.unheard.length);
      shown(again, may && due.length);
      text(again, say("area.ask-again", { n: due.length }));
      attr(again, "aria-label", `${say("area.ask-again", { n: due.length })}: ${due.join(" ")}`);
      offer();
    },
  };
}
