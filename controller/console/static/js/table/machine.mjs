// The machine of a table: the cards, sets, boards, and the proof of the deal.

import { senderText } from "../sender.mjs";
import { attr, byId, data, fill, h, shown, text } from "../dom.mjs";
import { faultText } from "../faults.mjs";
import { HARDWARE, missingGuarantees } from "../hardware.mjs";
import { SEATS } from "../seats.mjs";
import { pairText, say } from "../words.mjs";

const CARDS = 108;

/** Make the panel of the machine: the progress of the cards, and what the machine waits for. */
export function makeMachinePanel(ctx) {
  const phase = h("p", { class: "phase" });
  const bar = h("progress", { max: CARDS, value: 0 });
  const fed = h("p", { class: "quiet" });
  const landed = h("p", { class: "landed" });
  const more = h("ul", { class: "facts" });
  fill(byId("machine-body"), phase, bar, fed, landed, more);

  function draw() {
    const found = ctx.state?.machine;
    shown(byId("machine"), found);
    if (!found) return;
    const cards = ctx.state.match.game === "bigtwo" ? 52 : CARDS;
    data(phase, "phase", found.phase);
    text(phase, say(`table.machine.${found.phase}`));
    attr(bar, "max", cards);
    bar.value = found.fed;
    attr(bar, "aria-label", say("table.machine.fed", { fed: found.fed, cards }));
    const again = found.refed ? say("table.machine.refed", { refed: found.refed }) : null;
    const ready = found.ready_in_s === null || found.ready_in_s === undefined
      ? null : say("table.machine.ready", { s: Math.round(found.ready_in_s) });
    text(fed, [say("table.machine.fed", { fed: found.fed, cards }), again, ready].filter(Boolean).join(" · "));
    shown(landed, found.landed);
    if (found.landed) {
      const counts = SEATS.map((seat) => `${say(`seat.${seat}`)} ${found.landed[seat]}`);
      const tray = found.landed.tray ? [`${say("table.machine.tray")} ${found.landed.tray}`] : [];
      text(landed, `${say("table.machine.landed")} ${[...counts, ...tray].join(" · ")}`);
    }
    const match = ctx.state.match;
    const ahead = match.match && found.deal && match.deal && found.deal > match.deal;
    fill(more, [
      found.deal && attemptWords(found),
      ahead && say("table.machine.ahead", { deal: found.deal }),
      found.cutters?.length && say("table.machine.cutters", { seats: found.cutters.map((seat) => say(`seat.${seat}`)).join(" ") }),
      found.counter !== null && say("table.machine.counter", { n: found.counter }),
      findNextSet(found) && say("table.machine.set", { set: findNextSet(found) }),
      found.set_out && say("table.machine.set-out", { set: found.set_out }),
      ...Object.entries(found.pauses ?? {}).map(([role, by]) => say("table.machine.pause", { role: say(`role.${role}`), by: senderText(by) })),
    ].filter(Boolean).map((one) => h("li", null, one)));
  }

  return { draw };
}

/** Return the set for this or the next deal; null: the players must first bring it back. */
export function findNextSet({ card_set: next, set_out: out }) {
  return next === out ? null : next;
}

/** Make the panel with sets, counters, and the reports of boards and program. */
export function makeHealthPanel(ctx) {
  const counters = h("dl", { class: "counters" });
  const sets = h("tbody");
  const rest = h("dl", { class: "said" });
  const cannot = h("div", { id: "cannot" });
  fill(byId("health-body"), counters,
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": say("table.health.sets") }, h("table", null,
      h("caption", null, say("table.health.sets")),
      h("thead", null, h("tr", null,
        ["set", "back", "state", "used"].map((name) => h("th", { scope: "col" }, say(`table.health.${name}`))))),
      sets)),
    rest, h("p", { class: "quiet" }, say("table.health.reported")), cannot);
  let before = "";

  function draw() {
    const { state } = ctx;
    shown(byId("health"), state);
    if (!state) return;
    const now = JSON.stringify([Object.keys(ctx.commands).length, state.counters, state.sets, state.boards, state.release, state.head, state.machine.card_set, state.machine.set_out, state.match.profile, ctx.at?.rules, ctx.at?.hardware]);
    if (now === before) return;
    before = now;
    fill(counters, ["deals", "redeals", "voids", "misreads", "jams"].map((name) => h("div", { data: { many: state.counters[name] > 0 && name !== "deals" ? "yes" : null } },
      h("dt", null, say(`table.health.${name}`)), h("dd", null, state.counters[name]))));
    fill(sets, state.sets.map((one) => h("tr", { data: { barred: one.barred.length ? "yes" : null } },
      h("th", { scope: "row" }, one.id), h("td", null, one.back), h("td", null, standing(state, one)),
      h("td", null, say("table.health.uses", one), one.last_match
        ? h("small", null, " ", say("table.health.last", { match: one.last_match, deal: one.last_deal })) : null))));
    const board = (name) => {
      const found = state.boards[name];
      return found ? `${found.version} (${found.hash.slice(0, 8)}…)` : say("table.health.no-board");
    };
    const hardware = ctx.at?.hardware;
    const release = state.release ? `${state.release.version} · ${state.release.serial} (${state.release.hash.slice(0, 8)}…)` : say("table.health.no-release");
    fill(rest, [
      ["profile", ctx.at?.rules ? pairText(ctx.at.rules) : state.match.profile], ["release", release], ["dealer", board("dealer")], ["reader", board("reader")],
      ...(hardware ? HARDWARE.map((name) => [`hal-${name}`, pairText(hardware[name])]) : []),
      ["head", `${state.head.slice(0, 16)}…`], ["boot", state.boot],
    ].map(([name, value]) => [h("dt", null, say(`table.health.${name}`)), h("dd", null, value)]));
    fill(cannot, missingGuarantees(hardware));
  }

  function standing(state, one) {
    const where = [
      findNextSet(state.machine) === one.id && say("table.health.in"),
      state.machine.set_out === one.id && say("table.health.out"),
    ].filter(Boolean);
    const bar = one.barred.length
      ? h("strong", { class: "bad" }, "✕ ", say("table.health.barred", { why: faultText(one.barred) }))
      : h("span", null, say("table.health.ready"));
    return [bar, where.length ? ` · ${where.join(" · ")}` : ""];
  }

  return { draw };
}

/** Return deal and attempt in words. The table's own number is for commands and proofs. */
function attemptWords({ deal, of_deal: attempt }) {
  return attempt ? say("table.machine.attempt", { deal, attempt }) : say("table.deal", { deal });
}

/** Make the panel with the commitments of the attempts and the link to check them. */
export function makeProofPanel(ctx) {
  let before = "";

  function draw() {
    const list = ctx.state?.fairness ?? [];
    const now = JSON.stringify(list);
    if (now === before) return;
    before = now;
    if (!list.length) {
      fill(byId("proof-list"), h("li", { class: "quiet" }, say("table.proof.none")));
      return;
    }
    fill(byId("proof-list"), [...list].reverse().map((one) => h("li", null,
      h("b", null, attemptWords(one)), " ",
      one.outcome ? say(`table.outcome.${one.outcome}`) : "", one.recalled.length ? ` · ${say("table.proof.recalled")}` : "",
      h("code", { title: one.commitment }, `${say("table.proof.commitment")} ${one.commitment.slice(0, 16)}…`),
      h("span", null, cut(one)), " · ",
      one.reveal
        ? h("a", { class: "button", href: `/proof/${encodeURIComponent(ctx.table)}/${one.attempt}` }, say("table.proof.link", { which: attemptWords(one) }))
        : h("span", { class: "quiet" }, say("table.proof.sealed")))));
  }

  function cut(one) {
    if (one.uncut) return say("table.proof.uncut");
    return one.cut === null ? say("table.proof.not-cut") : say("table.proof.cut", { n: one.cut });
  }

  return { draw };
}
