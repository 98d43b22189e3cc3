// The matters on the chief's page. Each one is a list of lines
// {key, table, href, words, note?, since?, until?, sign?, bad?}.

import { reasonText } from "../rows.mjs";
import { SEATS, SIDES } from "../seats.mjs";
import { rankSign } from "../signs.mjs";
import { durationText, timeOfDay } from "../time.mjs";
import { pairText, say, textOf } from "../words.mjs";

function desk(table) {
  return `/table/${encodeURIComponent(table)}/rulings`;
}

/** Return the address of a table's page. */
export function tableAddress(table) {
  return `/table/${encodeURIComponent(table)}`;
}

function sides(list) {
  return list.map((side) => say(`side.${side}`)).join(say("chief.and"));
}

/** Return the line of a correction that needs the chief's confirmation. */
function correctionLine({ table, correction, by, since_ms: since }) {
  return {
    key: `correction ${correction.row}`, table, href: `${desk(table)}#desk`, sign: "◐", bad: true,
    words: say("chief.spoken", { deal: correction.deal }),
    note: pairText(by), since,
  };
}

/** Return all matters: [name, title, {view, waits, areas} → lines]. Call it after `addTexts`. */
export const listMatters = () => [
  ["approvals", say("chief.approvals"), ({ view }) => [...view.spoken.map(correctionLine), ...view.approvals.map((one) => ({
    key: one.ruling.id,
    table: one.table,
    href: desk(one.table),
    sign: "◆",
    bad: true,
    words: `${textOf(one.ruling, "offence")} → ${textOf(one.ruling, "penalty")}`,
    note: [
      sides([one.ruling.side]) + (one.ruling.seat ? ` ${say(`seat.${one.ruling.seat}`)}` : ""),
      say("row.deal", { deal: one.ruling.deal }),
      say(one.verbal ? "chief.verbal" : "chief.proposed", { by: pairText(one.by) }),
      one.ruling.article ?? "",
    ].filter(Boolean).join(" · "),
    since: one.since_ms,
  }))]],
  ["untaken", say("chief.untaken"), ({ waits }) => waits.filter((wait) => wait.chiefs).map((wait) => ({
    key: "",
    table: wait.table,
    href: tableAddress(wait.table),
    sign: rankSign(wait.reasons[0].rank),
    bad: true,
    words: reasonText(wait.reasons[0]),
    note: say(`rank.${wait.reasons[0].rank}`),
    since: wait.reasons[0].since_ms,
  }))],
  ["integrity", say("chief.integrity"), ({ view }) => view.integrity.map((one) => ({
    key: `${one.kind} ${one.words_en} ${one.deal} ${one.since_ms}`,
    table: one.table,
    href: tableAddress(one.table),
    sign: "!",
    bad: ["other_key", "two_pasts", "unsigned_head", "unreleased"].includes(one.kind),
    words: textOf(one, "words"),
    note: [one.deal ? say("row.deal", { deal: one.deal }) : "", one.since_ms ? say("chief.since", { time: timeOfDay(one.since_ms) }) : ""].filter(Boolean).join(" · "),
  }))],
  ["overrun", say("chief.overrun"), ({ view }) => view.overrun.map((one) => ({
    key: "",
    table: one.table,
    href: tableAddress(one.table),
    sign: "◷",
    words: say("chief.by", { by: durationText(one.by_s * 1000) }),
    note: [say("row.deal", { deal: one.deal }), textOf(one, "phase"),
      one.deals ? say("chief.pace", { pace: durationText(one.pace_s * 1000), n: one.deals }) : say("chief.usual", { pace: durationText(one.pace_s * 1000) })].join(" · "),
    until: one.ends_ms,
  }))],
  ["equal", say("chief.equal"), ({ view }) => view.equal.map((one) => ({
    key: "",
    table: one.table,
    href: tableAddress(one.table),
    sign: "=",
    bad: one.due,
    words: say("chief.both-at", { level: one.level }),
    note: one.due ? say("chief.extra-due") : "",
    until: one.ends_ms,
  }))],
  ["at-a", say("chief.at-a"), ({ view }) => view.at_a.map((one) => ({
    key: "",
    table: one.table,
    href: tableAddress(one.table),
    sign: "A",
    words: sides(one.sides),
    note: Object.entries(one.failures).filter(([, n]) => n).map(([side, n]) => say("chief.failed", { side: say(`side.${side}`), n })).join(" · "),
  }))],
  ["unsigned", say("chief.unsigned"), ({ view }) => view.unsigned.map((one) => ({
    key: "",
    table: one.table,
    href: `${tableAddress(one.table)}/sheet`,
    sign: "✎",
    words: say("chief.missing", { who: one.signers.map(signer).join(say("chief.and")) }),
    note: one.signed ? say("chief.signed", { n: one.signed }) : "",
    since: one.since_ms,
  }))],
  ["outcomes", say("chief.outcomes"), ({ view }) => view.outcomes.map((one) => ({
    key: `${one.words_en} ${one.deal} ${one.side}`,
    table: one.table,
    href: desk(one.table),
    sign: "✕",
    words: textOf(one, "words"),
    note: [one.side ? sides([one.side]) : "", one.deal ? say("row.deal", { deal: one.deal }) : "", one.by].filter(Boolean).join(" · "),
  }))],
  ["late", say("chief.late"), ({ areas }) => areas.flatMap((area) => [
    ...area.differs.map((one) => ({
      key: "clock",
      table: one.table,
      href: tableAddress(one.table),
      sign: "◷",
      words: one.by_s === null ? (one.running ? say("chief.clock-runs") : say("chief.clock-stands")) : one.by_s > 0
        ? say("chief.clock-more", { span: durationText(one.by_s * 1000) })
        : say("chief.clock-less", { span: durationText(-one.by_s * 1000) }),
      note: area.area,
    })),
    ...area.behind.map((one) => ({
      key: "behind", table: one.table, href: tableAddress(one.table), sign: "…",
      words: say("chief.behind", { n: one.deals }), note: area.area,
    })),
    ...area.added.map((one) => ({
      key: "added", table: one.table, href: tableAddress(one.table), sign: "+",
      words: say("row.added", { span: durationText(one.seconds * 1000) }), note: area.area,
    })),
  ])],
];

/** Return the name of a missing signer: a side, a seat, or the referee. */
function signer(name) {
  if (SIDES.includes(name)) return say(`side.${name}`);
  if (SEATS.includes(name)) return say(`seat.${name}`);
  return name === "referee" ? say("role.referee") : name;
}
