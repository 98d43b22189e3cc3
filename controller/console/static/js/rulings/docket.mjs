// Rulings: first the pending ones with their effects, then the decided ones.

import { get } from "../api.mjs";
import { ask } from "../dialog.mjs";
import { byWhom } from "../by-whom.mjs";
import { data, fill, h, keyed, shown } from "../dom.mjs";
import { keep } from "../kept.mjs";
import { orderButton } from "../order.mjs";
import { SEATS } from "../seats.mjs";
import { both, pairWords, say } from "../words.mjs";
import { SpokenCard } from "./spoken.mjs";
import { article, bare, chiefsName, foresee, linesOf, moves, outlook, remedy, whom } from "./parts.mjs";

const OPEN = (one) => one.state === "proposed";
const UNCONFIRMED = (one) => one.state === "decided" && one.verbal && !one.confirmed_by;

/** Make both lists: {open, closed, draw()}. */
export function docket(at) {
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
    if (!cards.has(name)) cards.set(name, new SpokenCard(at, one.row));
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

  const approve = orderButton({
    table: at.table, cmd: "approve", label: say("rulings.approve"), kind: "go", ...about,
    args: () => ({ ruling: name }), confirm: () => (grave(one) ? question() : null),
  });
  const change = orderButton({
    table: at.table, cmd: "approve", label: say("rulings.change"), ...about, args: changed,
  });
  const spoken = orderButton({
    table: at.table, cmd: "approve", label: say("rulings.approve-by-word"), kind: "go", ...about,
    args: async () => {
      const said = await ask({
        title: bare(say("rulings.approve-by-word")), more: outlook(seen), fields: [chiefsName(at)],
      });
      return said && named({ ruling: name, verbal: true, by: said.by });
    },
  });
  const reject = orderButton({
    table: at.table, cmd: "reject", label: say("rulings.reject"), ...about, args: rejection,
  });
  const overturn = orderButton({
    table: at.table, cmd: "reject", label: say("rulings.overturn"), ...about,
    args: async () => {
      const then = await foresee(at, "reject", { ruling: name });
      const field = chiefsName(at);
      const said = await ask({
        title: say("rulings.overturn-title", { id: name }), text: say("rulings.overturn-text"),
        more: outlook(then), danger: true, fields: field ? [field] : [], yes: bare(say("rulings.overturn")),
      });
      return said && named({ ruling: name, ...(said.by ? { verbal: true, by: said.by } : {}) });
    },
  });
  const confirm = orderButton({
    table: at.table, cmd: "confirm_verbal", label: say("rulings.confirm-verbal"), kind: "go", ...about,
    args: { ruling: name },
  });

  function named(args) {
    keep("chief", args.by ?? null);
    return args;
  }

  function question() {
    return {
      title: say("rulings.approve-title", { what: both(one, "penalty"), whom: whom(at, one) }),
      text: [...effects(one), ...linesOf(seen)].join("\n"), yes: say("rulings.approve"), danger: true,
    };
  }

  async function rejection() {
    const field = one.needs === "chief" ? chiefsName(at) : null;
    const said = await ask({
      title: say("rulings.reject-title", { id: name }), fields: field ? [field] : [], yes: bare(say("rulings.reject")),
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
      ...legal.map((each) => [each.penalty, `${both(each)} (${each.article ?? say("rulings.provisional")})`]),
      ...others.map((each) => [each.id, `${both(each)} (${say("rulings.discretion")})`]),
    ];
    const field = chiefsName(at);
    const said = await ask({
      title: say("rulings.change-title", { what: both(one, "penalty"), whom: whom(at, one) }),
      text: say("rulings.change-text"),
      fields: [
        { name: "penalty", kind: "choice", label: say("rulings.penalty"), choices: list, required: true },
        ...(field ? [field] : []),
      ],
      yes: bare(say("rulings.change")),
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
    fill(will, outlook(null));
    const found = await foresee(at, "approve", { ruling: name });
    if (of !== wanted) return;
    seen = found;
    fill(will, outlook(seen));
  }

  return {
    node,
    draw: (told) => {
      const same = JSON.stringify(told) === JSON.stringify(one);
      one = told;
      data(node, "state", UNCONFIRMED(one) ? "unconfirmed" : one.state);
      if (!same) {
        fill(head, h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[node.dataset.state]),
          say(`rulings.state.${node.dataset.state}`), " · ", one.id, " · ", both(one, "penalty"), " · ", whom(at, one));
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

const grave = (one) => moves(one.answer ?? { penalty: one.penalty, effects: [] });

/** Return the effects of a ruling in words. Effects known only from missing entries are left out. */
export function effects(one) {
  return (one.answer?.effects ?? []).map(([en, zh]) => both({ en, zh }));
}

function details(at, one) {
  const kind = both(one, "kind");
  const lines = [
    h("p", null, both(one, "offence"), kind ? [say("rulings.colon"), kind] : "", " ", article(one.article, one.answer?.provisional)),
    one.answer ? h("p", { class: "quiet" }, both(one.answer, "why")) : null,
    effects(one).length ? h("ul", { class: "effects" }, effects(one).map((line) => h("li", null, line))) : null,
    one.state === "rejected" ? null : remedy(at, one.offence),
    one.pointed_out_by ? h("p", { class: "quiet" }, pointedOut(at, one)) : null,
    one.settled_by_players ? h("p", null, say(`rulings.settled.${one.settled_by_players}`)) : null,
    one.lapses?.length ? h("ul", { class: "lapses" }, one.lapses.map((each) => h("li", null, say("rulings.lapse"), say("rulings.colon"), both(each), " ", article(each.article)))) : null,
    one.lapse_disputed ? h("p", { class: "wait" }, say("rulings.lapse-disputed")) : null,
    one.changed_from ? h("p", null, say("rulings.changed-from", { what: pairWords(one.changed_from) })) : null,
    h("p", { class: "quiet" }, [
      say("rulings.of-deal", { deal: one.deal }), say("rulings.by", { by: byWhom(one.by) }),
      one.decided ? say("rulings.approved-by", { by: pairWords(one.decided) }) : "",
      one.confirmed_by ? say("rulings.confirmed-by", { by: byWhom(one.confirmed_by) }) : "",
      one.rejected ? say("rulings.rejected-by", { by: pairWords(one.rejected) }) : "",
    ].filter(Boolean).join(" · ")),
    one.needs === "chief" && one.state === "proposed" ? h("p", { class: "wait" }, h("span", { class: "sign" }, "⚑"), say("rulings.needs-chief")) : null,
  ];
  return lines.filter(Boolean);
}

function pointedOut(at, one) {
  const who = SEATS.includes(one.pointed_out_by)
    ? whom(at, { seat: one.pointed_out_by }) : say(`rulings.pointer.${one.pointed_out_by}`);
  return say("rulings.pointed-out", { who, when: say(`rulings.when.${one.pointed_out_when ?? "at_once"}`) });
}
