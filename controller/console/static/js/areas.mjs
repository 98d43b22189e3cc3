// The clocks of the areas: the time left, the announcements, and the chief's buttons.

import { makeAreaCommandList } from "./area-commands.mjs";
import { makeAreaButton } from "./area-button.mjs";
import { attr, data, fill, h, keyed, shown, text } from "./dom.mjs";
import { compareNames } from "./compare-names.mjs";
import { beep } from "./sound.mjs";
import { durationText, now, timeOfDay } from "./time.mjs";
import { hasText, say, textOf } from "./words.mjs";

/** Up to this many clocks are open. More clocks are a row of closed ones, and one can be opened. */
const WHOLE = 2;
const NARROW = matchMedia("(max-width: 600px)");

/** Make the clocks in a block: {draw(areas, me, acts), choose(), tick()}.
 *
 * `draw` receives the changed parts: undefined is unchanged, null is no longer known.
 * `near(area)`: true if the area belongs to this person. Call `choose` when that changes.
 * `tableOf(area, name)`: the id of the area's table with this number or id, or null.
 */
export function makeAreaClocks(block, { tell, voice, near, tableOf }) {
  const nodes = new Map();
  const clocks = new Map();
  const unknown = h("p", { class: "quiet unknown", role: "status", hidden: true });
  let areas = null; // null: not known, because the part was not received or was withdrawn
  let acts = [];
  let me = null;
  let opened = null;

  function make(area) {
    const one = makeAreaClock(area, tell, tableOf, () => {
      opened = opened === area ? null : area;
      choose();
    });
    clocks.set(area, one);
    return one.node;
  }

  /** Show the clocks of this person's areas, or all clocks if the person chose no area. */
  function choose() {
    const his = [...clocks.keys()].filter(near);
    const many = his.length > WHOLE || NARROW.matches;
    data(block, "many", many ? "yes" : null);
    for (const [area, one] of clocks) {
      shown(one.node, his.includes(area));
      one.open(!many || opened === area || one.due());
    }
    shown(block, clocks.size || !unknown.hidden);
  }

  block.append(unknown);
  NARROW.addEventListener("change", choose);

  return {
    draw: (views, who, ordered) => {
      if (views !== undefined) areas = views;
      if (ordered !== undefined) acts = ordered;
      me = who;
      text(unknown, !areas ? say("area.unknown") : !acts ? say("area.acts-unknown") : "");
      shown(unknown, !areas || !acts);
      const seen = areas ?? [];
      const names = seen.map((view) => view.area).sort(compareNames);
      keyed(block, nodes, names, make);
      for (const name of clocks.keys()) if (!nodes.has(name)) clocks.delete(name);
      for (const view of seen) {
        const said = clocks.get(view.area).draw(view, me, acts ?? []);
        if (!said || !near(view.area)) continue;
        voice(say("area.says", { area: view.area, words: said }));
        beep(1, [`${view.area} ${said}`]);
      }
      choose();
    },
    choose,
    tick: () => {
      for (const one of clocks.values()) one.tick();
    },
  };
}

/** Return the milliseconds that most tables of an area have left, or null without a clock. */
export function areaLeftMs(view) {
  if (view.ends_ms !== null && view.ends_ms !== undefined) return view.ends_ms - now();
  return view.left_s === null || view.left_s === undefined ? null : view.left_s * 1000;
}

/** Return the last announcement of an area's clock in words, or "". */
export function announcementText(announced) {
  const key = `announced.${announced}`;
  return announced && hasText(key) ? say(`announced.${announced}`) : "";
}

/** Return the facts of an area in words: how many of its tables are in each state. */
function areaStateText(view) {
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

/** Return an area's stop in words, or "": at how many tables, since when, by whom and why. */
export function areaStopText(view) {
  if (!view.held?.length) return "";
  const [n, all] = [view.held.length, view.playing];
  const { stop } = view;
  const by = textOf(stop, "by");
  return [
    n < all ? say("area.stop-some", { n, all }) : say("area.stop"),
    stop?.since_ms ? say("area.stop-since", { time: timeOfDay(stop.since_ms) }) : "",
    by ? say("area.stop-by", { by }) : "",
    textOf(stop, "why"),
  ].filter(Boolean).join(" · ");
}

function makeAreaClock(area, tell, tableOf, turn) {
  const time = h("b", { class: "time" });
  const how = h("span", { class: "how" }, h("span", { class: "sign" }), h("span", { class: "words" }));
  const said = h("b", { class: "said" });
  const stop = h("b", { class: "stop area-stop" });
  const facts = h("p", { class: "facts" });
  const fate = h("p", { class: "fate", role: "status" });
  const start = makeAreaButton(area, "start", say("area.start"), "go", fate, tell, () => view, tableOf);
  const hold = makeAreaButton(area, "hold", say("area.hold"), "plain", fate, tell, () => view, tableOf);
  const resume = makeAreaButton(area, "resume", say("area.resume"), "go", fate, tell, () => view, tableOf);
  const more = makeAreaButton(area, "time", say("area.time"), "plain", fate, tell, () => view, tableOf);
  const why = h("small", { class: "why", id: `resume-${area}` }, say("area.nothing-stopped"));
  const hand = h("div", { class: "hand", hidden: true }, start.node, hold.node, resume.node, why, more.node);
  const acts = makeAreaCommandList(area, tell);
  const opener = h("button", { type: "button", class: "opener", "aria-label": say("area.more", { area }), onclick: turn });
  const inside = h("div", { class: "inside" }, hand, facts, fate, acts.node);
  const node = h("section", { class: "area", "aria-label": area }, h("h2", null, area), time, how, said, stop, opener, inside);
  let view = null;
  let known = null;

  function tick() {
    const left = areaLeftMs(view);
    text(time, left === null ? "–:––" : durationText(left));
    data(node, "near", left !== null && left < 300_000 ? "yes" : null);
  }

  return {
    node,
    tick: () => view && tick(),
    /** True if a command for the area is not completed. */
    due: () => acts.node.querySelector("[data-open]") !== null,
    /** Show the whole clock, or only its head. */
    open: (whole) => {
      shown(inside, whole);
      data(node, "open", whole ? "yes" : null);
      attr(opener, "aria-expanded", String(whole));
    },
    /** Draw the clock. Return its news in words, or "": a stop, or an announcement. */
    draw: (now_, who, ordered) => {
      const before = view;
      view = now_;
      const runs = view.running;
      const stands = !runs && view.playing > 0 && areaLeftMs(view) !== null;
      const held = view.held?.length ?? 0;
      data(node, "clock", runs ? "runs" : stands ? "stands" : "none");
      attr(node, "aria-label", [area, view.event, view.round && say("row.round", { round: view.round })].filter(Boolean).join(" "));
      text(how.firstChild, runs ? "▷" : stands ? "‖" : "–");
      text(how.lastChild, runs ? say("area.runs") : stands ? say("area.stands") : say("area.before"));
      text(said, announcementText(view.announced));
      text(stop, areaStopText(view));
      const told = areaStateText(view);
      if (told.join("\n") !== known) fill(facts, told.map((fact) => h("span", null, fact)));
      known = told.join("\n");
      shown(hand, who?.role === "chief");
      shown(start.node, view.not_started > 0);
      shown(hold.node, view.playing > held);
      shown(resume.node, view.playing > 0);
      resume.offer(held > 0);
      attr(resume.node, "class", held ? "go" : "plain");
      attr(resume.node, "aria-describedby", held ? null : why.id);
      shown(why, view.playing > 0 && held === 0);
      shown(more.node, view.playing > 0);
      acts.draw(ordered, who);
      tick();
      if (!before) return "";
      if (held && !before.held?.length) return areaStopText(view);
      return before.announced !== view.announced ? announcementText(view.announced) : "";
    },
  };
}
