// Rulings: first the pending ones with their effects, then the decided ones.

import { get } from "../api.mjs";
import { askValues } from "../dialog.mjs";
import { senderText } from "../sender.mjs";
import { data, fill, h, keyed, shown } from "../dom.mjs";
import { storeValue } from "../storage.mjs";
import { makeCommandButton } from "../command-button.mjs";
import { SEATS } from "../seats.mjs";
import { pairText, say, textOf } from "../words.mjs";
import { SpokenCorrectionCard } from "./spoken-correction.mjs";
import { changesMatch, labelWithoutDots, makeChiefField, previewTexts, requestPreview, rulingSubjectText, showArticle, showPreview, showRemedy } from "./parts.mjs";

const OPEN = (one) => one.state === "proposed";
const UNCONFIRMED = (one) => one.state === "decided" && one.verbal && !one.confirmed_by;

/** Make both lists: {open, closed, draw()}. */
export function makeRulingLists(at) {
  const waiting = h("div", { class: "stack" });
  const over = h("div", { class: "stack" });
  const open = h("section", { class: "panel", "aria-labelledby": "open-title" },
    h("h2", { id: "open-title" }, say("rulings.open")), waiting);
  const closed = h("section", { class: "panel", "aria-labelledby": "closed-title" },
    h("h2", { id: "closed-title" }, say("rulings.closed")), over);
  const nodes = [new Map(), new Map()];
  const cards = new Map();

  function card(name) {
    if (!cards.has(name)) cards.set(name, caseCard(at, name));
    return cards.get(name);
  }

  function spokenCard(name, one) {
    if (!cards.has(name)) cards.set(name, new SpokenCorrectionCard(at, one.row));
    return cards.get(name);
  }

  return {
    open,
    closed,
    draw: () => {
      const cases = at.desk.cases;
      const first = cases.filter((one) => OPEN(one) || UNCONFIRMED(one));
      const then = cases.filter((one) => !first.includes(one)).reverse();
      const words = new Map((at.state?.match.spoken ?? []).map((one) => [`correction ${one.row}`, one]));
      keyed(waiting, nodes[0], [...first.map((one) => one.id), ...words.keys()],
        (name) => (words.has(name) ? spokenCard(name, words.get(name)) : card(name)).node);
      for (const [name, one] of words) spokenCard(name, one).draw(one);
      keyed(over, nodes[1], then.map((one) => one.id), (name) => card(name).node);
      shown(open, first.length + words.size > 0);
      shown(closed, then.length > 0);
      for (const one of cases) card(one.id).draw(one);
    },
  };
}

function caseCard(at, name) {
  let one = null;
  let seen = null;
  let of = "";
  const head = h("h3");
  const facts = h("div", { class: "facts" });
  const will = h("div");
  const acts = h("div", { class: "acts" });
  const node = h("article", { class: "case" }, head, facts, will, acts);
  const about = { deal: () => at.state?.match.deal, attempt: () => at.state?.match.attempt };

  const approve = makeCommandButton({
    table: at.table, cmd: "approve", label: say("rulings.approve"), kind: "go", ...about,
    args: () => ({ ruling: name }), confirm: () => (grave(one) ? question() : null),
  });
  const change = makeCommandButton({
    table: at.table, cmd: "approve", label: say("rulings.change"), ...about, args: changed,
  });
  const spoken = makeCommandButton({
    table: at.table, cmd: "approve", label: say("rulings.approve-by-word"), kind: "go", ...about,
    args: async () => {
      const said = await askValues({
        title: labelWithoutDots(say("rulings.approve-by-word")), more: showPreview(seen), fields: [makeChiefField(at)],
      });
      return said && named({ ruling: name, verbal: true, by: said.by });
    },
  });
  const reject = makeCommandButton({
    table: at.table, cmd: "reject", label: say("rulings.reject"), ...about, args: rejection,
  });
  const overturn = makeCommandButton({
    table: at.table, cmd: "reject", label: say("rulings.overturn"), ...about,
    args: async () => {
      const then = await requestPreview(at, "reject", { ruling: name });
      const field = makeChiefField(at);
      const said = await askValues({
        title: say("rulings.overturn-title", { id: name }), text: say("rulings.overturn-text"),
        more: showPreview(then), danger: true, fields: field ? [field] : [], yes: labelWithoutDots(say("rulings.overturn")),
      });
      return said && named({ ruling: name, ...(said.by ? { verbal: true, by: said.by } : {}) });
    },
  });
  const confirm = makeCommandButton({
    table: at.table, cmd: "confirm_verbal", label: say("rulings.confirm-verbal"), kind: "go", ...about,
    args: { ruling: name },
  });

  function named(args) {
    storeValue("chief", args.by ?? null);
    return args;
  }

  function question() {
    return {
      title: say("rulings.approve-title", { what: textOf(one, "penalty"), whom: rulingSubjectText(at, one) }),
      text: [...effectTexts(one), ...previewTexts(seen)].join("\n"), yes: say("rulings.approve"), danger: true,
    };
  }

  async function rejection() {
    const field = one.needs === "chief" ? makeChiefField(at) : null;
    const said = await askValues({
      title: say("rulings.reject-title", { id: name }), fields: field ? [field] : [], yes: labelWithoutDots(say("rulings.reject")),
    });
    return said && named({ ruling: name, ...(said.by ? { verbal: true, by: said.by } : {}) });
  }

  async function changed() {
    const charge = one.charge ?? { offence: one.offence, side: one.side, deal: one.deal, ...(one.seat ? { seat: one.seat } : {}) };
    const { choices = [] } = await get(`/api/tables/${encodeURIComponent(at.table)}/rulings?${new URLSearchParams(charge)}`);
    const legal = choices.filter((each) => each.penalty !== one.penalty);
    const others = (at.book?.ladder?.penalties ?? []).filter((each) =>
      each.id !== one.penalty && !choices.some((known) => known.penalty === each.id));
    const list = [
      ...legal.map((each) => [each.penalty, `${textOf(each)} (${each.article ?? say("rulings.provisional")})`]),
      ...others.map((each) => [each.id, `${textOf(each)} (${say("rulings.discretion")})`]),
    ];
    const field = makeChiefField(at);
    const said = await askValues({
      title: say("rulings.change-title", { what: textOf(one, "penalty"), whom: rulingSubjectText(at, one) }),
      text: say("rulings.change-text"),
      fields: [
        { name: "penalty", kind: "choice", label: say("rulings.penalty"), choices: list, required: true },
        ...(field ? [field] : []),
      ],
      yes: labelWithoutDots(say("rulings.change")),
    });
    return said && named({ ruling: name, penalty: said.penalty, ...(said.by ? { verbal: true, by: said.by } : {}) });
  }

  /** Ask for the effects again after each change of the match. */
  async function look() {
    const match = at.state.match;
    const wanted = JSON.stringify([one.state, one.penalty, match.deal, match.phase, match.levels, match.order]);
    if (wanted === of) return;
    of = wanted;
    if (!OPEN(one) || !at.may()) {
      fill(will);
      return;
    }
    seen = null;
    fill(will, showPreview(null));
    const found = await requestPreview(at, "approve", { ruling: name });
    if (of !== wanted) return;
    seen = found;
    fill(will, showPreview(seen));
  }

  return {
    node,
    draw: (told) => {
      const same = JSON.stringify(told) === JSON.stringify(one);
      one = told;
      data(node, "state", UNCONFIRMED(one) ? "unconfirmed" : one.state);
      if (!same) {
        fill(head, h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[node.dataset.state]),
          say(`rulings.state.${node.dataset.state}`), " · ", one.id, " · ", textOf(one, "penalty"), " · ", rulingSubjectText(at, one));
        fill(facts, details(at, one));
        const mine = one.needs === "referee" || at.chief();
        const open_ = OPEN(one) && at.may();
        fill(acts,
          open_ && mine ? approve.node : null, open_ && !mine ? spoken.node : null,
          open_ ? [change.node, reject.node] : null,
          UNCONFIRMED(one) && at.chief() ? confirm.node : null,
          one.state === "decided" && at.may() ? overturn.node : null);
      }
      for (const button of [approve, change, spoken]) button.offer(at.offer("approve"));
      for (const button of [reject, overturn]) button.offer(at.offer("reject"));
      confirm.offer(at.offer("confirm_verbal"));
      if (at.state && at.me) look();
    },
  };
}

const SIGNS = { proposed: "●", unconfirmed: "◐", decided: "✓", rejected: "✕" };

const grave = (one) => changesMatch(one.answer ?? { penalty: one.penalty, effects: [] });

/** Return the effects of a ruling in words. Effects known only from missing entries are left out. */
export function effectTexts(one) {
  return (one.answer?.effects ?? []).map(([en, zh]) => textOf({ en, zh }));
}

function details(at, one) {
  const kind = textOf(one, "kind");
  const lines = [
    h("p", null, textOf(one, "offence"), kind ? [say("rulings.colon"), kind] : "", " ", showArticle(one.article, one.answer?.provisional)),
    one.answer ? h("p", { class: "quiet" }, textOf(one.answer, "why")) : null,
    effectTexts(one).length ? h("ul", { class: "effects" }, effectTexts(one).map((line) => h("li", null, line))) : null,
    one.state === "rejected" ? null : showRemedy(at, one.offence),
    one.pointed_out_by ? h("p", { class: "quiet" }, pointedOut(at, one)) : null,
    one.settled_by_players ? h("p", null, say(`rulings.settled.${one.settled_by_players}`)) : null,
    one.lapses?.length ? h("ul", { class: "lapses" }, one.lapses.map((each) => h("li", null, say("rulings.lapse"), say("rulings.colon"), textOf(each), " ", showArticle(each.article)))) : null,
    one.lapse_disputed ? h("p", { class: "wait" }, say("rulings.lapse-disputed")) : null,
    one.changed_from ? h("p", null, say("rulings.changed-from", { what: pairText(one.changed_from) })) : null,
    h("p", { class: "quiet" }, [
      say("rulings.of-deal", { deal: one.deal }), say("rulings.by", { by: senderText(one.by) }),
      one.decided ? say("rulings.approved-by", { by: pairText(one.decided) }) : "",
      one.confirmed_by ? say("rulings.confirmed-by", { by: senderText(one.confirmed_by) }) : "",
      one.rejected ? say("rulings.rejected-by", { by: pairText(one.rejected) }) : "",
    ].filter(Boolean).join(" · ")),
    one.needs === "chief" && one.state === "proposed" ? h("p", { class: "wait" }, h("span", { class: "sign" }, "⚑"), say("rulings.needs-chief")) : null,
  ];
  return lines.filter(Boolean);
}

function pointedOut(at, one) {
  const who = SEATS.includes(one.pointed_out_by)
    ? rulingSubjectText(at, { seat: one.pointed_out_by }) : say(`rulings.pointer.${one.pointed_out_by}`);
  return say("rulings.pointed-out", { who, when: say(`rulings.when.${one.pointed_out_when ?? "at_once"}`) });
}
