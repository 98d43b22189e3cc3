// A new charge, in the order in which a referee hears it: who, what, who pointed it out; then the
// answers that the table's rulebook has for that, with what each would do. Nothing is done before
// a person has pressed a button that says so.

import { get } from "../api.mjs";
import { fill, h, shown } from "../dom.mjs";
import { SEATS, SIDES } from "../seats.mjs";
import { both, say } from "../words.mjs";
import { answerCard } from "./answers.mjs";
import { steps } from "./counters.mjs";
import { article, atSeat, chips, ofSide, remedy, toggle } from "./parts.mjs";

/** The form of a charge: {node, draw(), learned()}. */
export function charging(at) {
  const said = { who: null, offence: null, kind: null, step: null };
  let group = "likely";
  let questions = 0;
  let answers = null;

  const suggested = h("div", { class: "chips suggested" });
  const who = chips({ label: say("rulings.who"), options: [], onchange: (value) => tell({ who: value }) });
  const groups = chips({ label: say("rulings.groups"), options: [], value: "likely", onchange: (value) => {
    group = value ?? "likely";
    drawOffences();
  } });
  const offences = chips({ label: say("rulings.what"), options: [], onchange: (value) => tell({ offence: value, kind: null, step: null }) });
  const kinds = chips({ label: say("rulings.kinds"), options: [], free: true, onchange: (value) => tell({ kind: value }) });
  const pointer = chips({ label: say("rulings.pointed-out-by"), options: [], onchange: () => asking() });
  const when = chips({
    label: say("rulings.pointed-out-when"), value: "at_once", onchange: () => asking(),
    options: ["at_once", "later_trick", "later_deal"].map((one) => [one, say(`rulings.when.${one}`)]),
  });
  const step = chips({
    label: say("rulings.overrun"), free: true, options: [1, 2, 3].map((one) => [one, say("rulings.overrun-no", { no: one })]),
    onchange: (value) => tell({ step: value }),
  });
  const harmed = toggle(say("rulings.harmed"), { hint: say("rulings.harmed-hint"), onchange: () => asking() });
  const outsider = toggle(say("rulings.outsider-first"), { onchange: () => asking() });
  const acted = toggle(say("rulings.acted-first"), { onchange: () => asking() });
  const exploited = toggle(say("rulings.exploited"), { onchange: () => asking() });
  const disputed = toggle(say("rulings.disputed"), { hint: say("rulings.disputed-hint"), onchange: () => asking() });
  const settled = chips({
    label: say("rulings.settled"), free: true, onchange: () => asking(),
    options: ["recognised", "annulled"].map((one) => [one, say(`rulings.settled.${one}`)]),
  });
  const deal = h("input", { type: "number", min: 0, inputmode: "numeric", onchange: () => asking(), "aria-label": say("rulings.deal-of-offence") });
  const about = h("div", { class: "about-offence" });
  const found = h("div", { class: "answers", "aria-live": "polite" });
  const clear = h("button", { type: "button", class: "plain small", onclick: reset }, say("rulings.clear"));

  const rows = {
    suggested: row(say("rulings.clock-says"), suggested),
    kinds: row(say("rulings.kinds"), kinds.node),
    step: row(say("rulings.overrun"), step.node),
    harmed: row("", harmed.node),
  };
  const more = h("details", { class: "more" }, h("summary", null, say("rulings.more")),
    row(say("rulings.pointed-out-when"), when.node),
    h("fieldset", null, h("legend", null, say("rulings.lapse"), " ", h("span", { class: "article" }, "A15.3.8")),
      outsider.node, acted.node, exploited.node, disputed.node),
    row(say("rulings.settled"), settled.node),
    row(say("rulings.deal-of-offence"), deal));
  const node = h("section", { class: "panel charge", "aria-labelledby": "charge-title" },
    h("header", { class: "titled" }, h("h2", { id: "charge-title" }, say("rulings.charge")), clear),
    rows.suggested, row(say("rulings.who"), who.node), row(say("rulings.what"), h("div", { class: "groups" }, groups.node), offences.node),
    about, rows.kinds, rows.step, rows.harmed, row(say("rulings.pointed-out-by"), pointer.node), more, found);

  function tell(news) {
    Object.assign(said, news);
    drawParts();
    asking();
  }

  function reset() {
    Object.assign(said, { who: null, offence: null, kind: null, step: null });
    for (const one of [who, offences, kinds, step, settled]) one.set(null);
    when.set("at_once");
    pointer.set(caller());
    for (const one of [harmed, outsider, acted, exploited, disputed]) one.set(false);
    deal.value = "";
    answers = null;
    drawParts();
    fill(found);
  }

  /** Who pressed red waits for what he pointed out. */
  function caller() {
    return at.state?.calls.find((call) => call.reason === "button" && call.seat)?.seat ?? null;
  }

  const row_ = () => at.book?.ladder?.groups.flatMap((one) => one.offences).find((one) => one.id === said.offence);

  function drawParts() {
    const one = row_();
    shown(rows.kinds, Boolean(one?.kinds.length));
    if (one) kinds.options(one.kinds.map((kind) => [kind.id, both(kind), { title: kind.article ?? "" }]));
    kinds.set(said.kind);
    shown(rows.harmed, Boolean(one?.foul_if_harmed));
    shown(rows.step, Boolean(one?.id.startsWith("delay_") && one.steps.length > 1));
    step.set(said.step);
    fill(about, one ? h("details", { class: "rule" }, h("summary", null, both(one), " ", article(one.article)), steps(one)) : null);
  }

  function drawOffences() {
    const ladder = at.book?.ladder;
    if (!ladder) return;
    const all = new Map(ladder.groups.flatMap((one) => one.offences.map((each) => [each.id, each])));
    const match = at.state?.match;
    const likely = (ladder.likely[match?.phase] ?? ladder.likely.play).map((name) => all.get(name)).filter(Boolean);
    const listed = group === "likely" ? likely : ladder.groups.find((one) => one.id === group)?.offences ?? likely;
    const fits = (one) => !one.when || !match || (one.when === "behind_lead") === Boolean(match.led);
    offences.options(listed.map((one) => [one.id, both(one), {
      disabled: !fits(one), title: fits(one) ? one.article ?? say("rulings.provisional") : say(`rulings.only.${one.when}`),
    }]));
    offences.set(said.offence);
  }

  function charge() {
    const args = { offence: said.offence, pointed_out_by: pointer.value() ?? "referee", pointed_out_when: when.value() ?? "at_once" };
    if (SEATS.includes(said.who)) args.seat = said.who;
    else args.side = said.who;
    for (const [name, one] of Object.entries({ harmed, outsider_first: outsider, acted_first: acted, exploited, lapse_disputed: disputed })) {
      if (one.value()) args[name] = true;
    }
    if (settled.value()) args.settled_by_players = settled.value();
    if (said.kind) args.kind = said.kind;
    if (said.step && row_()?.id.startsWith("delay_")) args.step = said.step;
    if (deal.value !== "") args.deal = Number(deal.value);
    return args;
  }

  const complete = () => Boolean(said.who && said.offence && pointer.value());

  /** Ask the table what this leads to; only the newest question is answered on the page. */
  async function asking() {
    questions += 1;
    const mine = questions;
    if (!complete()) {
      const due = [[say("rulings.who"), said.who], [say("rulings.what"), said.offence], [say("rulings.pointed-out-by"), pointer.value()]];
      const missing = due.filter(([, value]) => !value).map(([words]) => words).join(say("rulings.and"));
      answers = null;
      fill(found, said.who || said.offence ? h("p", { class: "quiet" }, say("rulings.still", { what: missing })) : null);
      return;
    }
    const args = charge();
    fill(found, h("p", { class: "quiet" }, say("rulings.asking")));
    try {
      const { choices, refused } = await get(`/api/tables/${encodeURIComponent(at.table)}/rulings?${new URLSearchParams(args)}`);
      if (mine !== questions) return;
      if (refused) {
        fill(found, h("p", { class: "bad" }, h("span", { class: "sign" }, "✕"), both(refused)));
        return;
      }
      answers = choices.map((one, n) => answerCard(at, args, one, n, reset));
      const [first, ...rest] = answers.map((one) => one.node);
      fill(found, h("h3", null, say("rulings.answers")), remedy(at, said.offence), first,
        rest.length ? h("details", { class: "more others" }, h("summary", null, say("rulings.other-answers", { n: rest.length })), rest) : null,
        discretion(args, choices));
      for (const one of answers) one.draw();
    } catch (error) {
      if (mine === questions) fill(found, h("p", { class: "bad" }, h("span", { class: "sign" }, "✕"), error.message));
    }
  }

  /** What the ladder has not is the chief's to name (A15.3.7). */
  function discretion(args, choices) {
    const rest = at.book.ladder.penalties.filter((each) => !choices.some((one) => one.penalty === each.id));
    if (!rest.length || !at.chief()) return null;
    return h("details", { class: "more" }, h("summary", null, say("rulings.discretion-more")),
      rest.map((each) => {
        const one = { penalty: each.id, en: each.en, zh: each.zh, why_en: "", why_zh: "", needs: "chief", article: null, provisional: false, effects: [], discretion: true };
        const card = answerCard(at, args, one, 1, reset);
        answers.push(card);
        return card.node;
      }));
  }

  /** Fill in what is known of an offence: a referee goes on from there, or clears it. */
  function accuse(one) {
    reset();
    const place = one.seat ?? one.side ?? null;
    who.set(place);
    if (one.pointer) pointer.set(one.pointer);
    Object.assign(said, { who: place, offence: one.offence, step: one.step });
    group = "likely";
    groups.set(group);
    drawOffences();
    tell({});
  }
  at.accuse = (one) => {
    accuse(one);
    at.show("desk");
    node.scrollIntoView({ block: "start" });
  };

  let drawn = "";
  return {
    node,
    learned: () => {
      const ladder = at.book?.ladder;
      shown(node, Boolean(ladder) && at.may());
      if (!ladder) return;
      groups.options([["likely", say("rulings.likely")], ...ladder.groups
        .filter((one) => one.id !== "drawing" || at.state?.match.by_hand).map((one) => [one.id, both(one)])]);
      groups.set(group);
      drawOffences();
      drawParts();
    },
    draw: () => {
      if (!at.state) return;
      shown(node, Boolean(at.book?.ladder) && at.may() && Boolean(at.state.match.match));
      who.options([...SEATS.map((one) => [one, atSeat(at, one)]), ...SIDES.map((one) => [one, ofSide(at, one)])]);
      pointer.options([...SEATS.map((one) => [one, atSeat(at, one)]),
        ...["referee", "clock", "outsider"].map((one) => [one, say(`rulings.pointer.${one}`)])]);
      if (!pointer.value() && caller()) pointer.set(caller());
      deal.placeholder = String(at.state.match.deal ?? 0);
      deal.max = String(at.state.match.deal ?? 0);
      const wanted = JSON.stringify([at.desk.suggestions, at.state.match.phase, at.state.match.led]);
      if (wanted !== drawn) {
        drawn = wanted;
        shown(rows.suggested, at.desk.suggestions.length > 0);
        fill(suggested, at.desk.suggestions.map((one) => h("button", { type: "button", class: "chip clock", onclick: () => accuse({ ...one, pointer: "clock" }) },
          h("span", { class: "sign", "aria-hidden": "true" }, "◔"), one.seat ? atSeat(at, one.seat) : one.side ? ofSide(at, one.side) : "", say("rulings.colon"), both(one, "words"))));
        drawOffences();
      }
      for (const one of answers ?? []) one.draw();
    },
  };
}

function row(label, ...inside) {
  return h("div", { class: "row" }, label ? h("span", { class: "label" }, label) : null, inside);
}
