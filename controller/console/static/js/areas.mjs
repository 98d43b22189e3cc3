// The clocks of the areas: what is left, what was announced, and the chief's hand on them.

import { newId, post } from "./api.mjs";
import { ask, confirmed, told } from "./dialog.mjs";
import { attr, data, fill, h, keyed, shown, text } from "./dom.mjs";
import { because } from "./order.mjs";
import { inOrder } from "./rows.mjs";
import { now, span } from "./time.mjs";
import { say, sayable } from "./words.mjs";

/** Make the clocks in a block: {draw(areas, me), tick()}. `near(area)`: whether it is his. */
export function areaClocks(block, { tell, voice, near }) {
  const nodes = new Map();
  const clocks = new Map();
  let areas = [];
  let me = null;

  function make(area) {
    const one = clock(area, tell);
    clocks.set(area, one);
    return one.node;
  }

  return {
    draw: (views, who) => {
      areas = views ?? areas;
      me = who;
      const names = areas.map((view) => view.area).sort(inOrder);
      keyed(block, nodes, names, make);
      for (const name of clocks.keys()) if (!nodes.has(name)) clocks.delete(name);
      for (const view of areas) {
        const said = clocks.get(view.area).draw(view, me);
        if (said && near(view.area)) voice(`${view.area}: ${said}`);
      }
      shown(block, areas.length);
    },
    tick: () => {
      for (const one of clocks.values()) one.tick();
    },
  };
}

/** Milliseconds that most tables of an area have left; null: no clock runs or stands there. */
export function areaLeftMs(view) {
  if (view.ends_ms !== null && view.ends_ms !== undefined) return view.ends_ms - now();
  return view.left_s === null || view.left_s === undefined ? null : view.left_s * 1000;
}

/** What an area's clock said last, in words; empty where it has said nothing. */
export function announcedWords(announced) {
  const key = `announced.${announced}`;
  return announced && sayable(key) ? say(`announced.${announced}`) : "";
}

/** How an area is, in words: what its tables do. */
function areaFacts(view) {
  return [
    say("area.tables", { n: view.tables.length }),
    view.playing ? say("area.playing", { n: view.playing }) : "",
    view.not_started ? say("area.not-started", { n: view.not_started }) : "",
    view.over ? say("area.over", { n: view.over }) : "",
    view.waiting ? say("area.waiting", { n: view.waiting }) : "",
    view.stopped ? say("area.stopped", { n: view.stopped }) : "",
    view.live < view.tables.length ? say("area.dark", { n: view.tables.length - view.live }) : "",
    view.suspended?.length ? say("area.suspended", { n: view.suspended.length }) : "",
    view.last_deal ? say("area.last-deal", { n: view.last_deal }) : "",
    view.differs?.length ? say("area.differs", { n: view.differs.length }) : "",
    view.behind?.length ? say("area.behind", { n: view.behind.length }) : "",
    view.added?.length ? say("area.added", { n: view.added.length }) : "",
  ].filter(Boolean);
}

function clock(area, tell) {
  const time = h("b", { class: "time" });
  const how = h("span", { class: "how" });
  const said = h("b", { class: "said" });
  const facts = h("p", { class: "facts" });
  const fate = h("p", { class: "fate", role: "status" });
  const start = areaButton(area, "start", say("area.start"), "go", fate, tell, () => view);
  const hold = areaButton(area, "hold", say("area.hold"), "plain", fate, tell, () => view);
  const resume = areaButton(area, "resume", say("area.resume"), "go", fate, tell, () => view);
  const more = areaButton(area, "time", say("area.time"), "plain", fate, tell, () => view);
  const hand = h("div", { class: "hand", hidden: true }, start, hold, resume, more);
  const node = h("section", { class: "area", "aria-label": area }, h("h2", null, area), time, how, hand, said, facts, fate);
  let view = null;

  function tick() {
    const left = areaLeftMs(view);
    text(time, left === null ? "–:––" : span(left));
    data(node, "near", left !== null && left < 300_000 ? "yes" : null);
  }

  return {
    node,
    tick: () => view && tick(),
    /** Draw; return what the clock has newly announced, if anything. */
    draw: (now_, who) => {
      const before = view;
      view = now_;
      const runs = view.running;
      const stands = !runs && view.playing > 0 && areaLeftMs(view) !== null;
      const untimed = !runs && !stands && view.playing > 0;
      data(node, "clock", runs ? "runs" : stands ? "stands" : "none");
      attr(node, "aria-label", [area, view.event, view.round && say("row.round", { round: view.round })].filter(Boolean).join(" "));
      text(how, runs ? say("area.runs") : stands ? say("area.stands") : say("area.before"));
      text(said, announcedWords(view.announced));
      fill(facts, areaFacts(view).join(" · "));
      shown(hand, who?.role === "chief");
      shown(start, view.not_started > 0);
      shown(hold, runs || untimed);
      shown(resume, stands || untimed);
      shown(more, view.playing > 0);
      tick();
      return before && before.announced !== view.announced ? announcedWords(view.announced) : "";
    },
  };
}

/** A button that gives one command to every table of an area, and says what became of it. */
function areaButton(area, act, label, kind, fate, tell, view) {
  const button = h("button", { type: "button", class: kind }, label);
  let order = null;

  async function press() {
    const body = order ?? (await question(act, area, view()));
    if (!body) return;
    order = body;
    button.disabled = true;
    fill(fate, say("area.sending"));
    try {
      const answer = await post(`/api/areas/${encodeURIComponent(area)}/${act}`, order);
      order = null;
      report(answer.tables);
    } catch (error) {
      // Nothing is known: the same id again acts once.
      if (error.status >= 400 && error.status < 500) order = null;
      fill(fate, `${error.message} ${order ? say("area.again") : ""}`);
      tell(error.message, "bad");
    } finally {
      button.disabled = false;
    }
  }

  function report(tables) {
    const all = Object.entries(tables);
    const done = all.filter(([, reply]) => reply?.ok).length;
    const refused = all.filter(([, reply]) => reply && !reply.ok);
    const unknown = all.filter(([, reply]) => !reply);
    fill(fate, say("area.done", { n: done, all: all.length }));
    if (!refused.length && !unknown.length) return;
    told({
      title: say("area.not-all", { area }),
      more: h("ul", { class: "refusals" },
        refused.sort(([a], [b]) => inOrder(a, b)).map(([table, reply]) => h("li", null, h("b", null, `✕ ${table}`), ` ${because(reply.error)}`)),
        unknown.sort(([a], [b]) => inOrder(a, b)).map(([table]) => h("li", null, h("b", null, `? ${table}`), ` ${say("area.unknown")}`))),
    });
  }

  button.addEventListener("click", press);
  return button;
}

/** Ask what must be known before all tables of an area do something: the request, or null. */
async function question(act, area, view) {
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
      const unknown = names(tables).filter((one) => !view.tables.includes(one));
      return unknown.length ? say("area.no-table", { tables: unknown.join(" ") }) : "";
    },
  });
  if (!values) return null;
  const tables = names(values.tables);
  return { id, seconds: values.minutes * 60, ...(tables.length ? { tables } : {}) };
}

function names(text_) {
  return (text_ ?? "").split(/[\s,，、]+/).filter(Boolean);
}
