// The questions for a command: its arguments from /api/commands, with values from the table's
// state. A command without a row here is asked exactly as /api/commands lists it.

import { h } from "../dom.mjs";
import { faultText } from "../faults.mjs";
import { SEATS, sideOf, SIDES } from "../seats.mjs";
import { makeCardPicker, makeOrderPicker, makeSeatPicker } from "./pickers.mjs";
import { hasText, say, textOf } from "../words.mjs";

/** Commands that cannot be undone. Their question is red. */
export const FINAL = new Set([
  "release", "void", "redeal", "stop_deal", "dealt_by_hand", "open_hand", "transfer", "take_over", "start_match",
]);

/** Commands that need a question only in some states: true means that no question is asked. */
const STRAIGHT = {
  start_deal: (state) => !startsWithoutCut(state),
  resume: (state, me) => me.role !== "chief",
};

/** Differences from the list, by command and argument. null leaves out an argument. */
const FIELDS = {
  cut: {
    seat: ({ state }) => ({ choices: some(state.machine.cutters, state.match.cutters), required: true }),
    n: ({ state }) => ({
      value: state.machine.counter ?? undefined, ...range(state.match.cut_range),
    }),
  },
  confirm: { seat: confirmers },
  start_deal: {
    uncut: null,
    reason: () => ({ required: true }),
  },
  hold: { reason: () => ({ value: say("table.reason.at_table") }), area: chiefOnly },
  resume: { area: chiefOnly },
  replace_set: {
    set: ({ state }) => ({
      kind: "choice", required: false,
      choices: state.sets.filter((one) => one.id !== state.machine.set_out).map((one) => [one.id, setWords(state, one)]),
    }),
    back: () => ({ kind: "choice", choices: ["A", "B"].map((back) => [back, say(`table.pick.${back}`)]) }),
  },
  clear_set: {
    set: ({ state }) => ({
      kind: "choice", choices: state.sets.map((one) => [one.id, setWords(state, one)]),
      value: state.sets.find((one) => one.barred.length)?.id,
    }),
    cards: ({ state }) => ({ value: state.match.game === "bigtwo" ? 52 : 108 }),
  },
  acknowledge: {
    code: ({ state }) => ({ kind: "choice", choices: open(state), value: open(state).length === 1 ? open(state)[0][0] : undefined }),
    board: ({ state }) => (state.alerts.some((one) => OF_A_BOARD.test(one.name)) ? { kind: "choice", choices: boards() } : null),
  },
  tribute: {
    seat: ({ state }) => ({ choices: some(state.match.tribute?.payers) }),
    other: ({ state }) => ((state.match.tribute?.payers.length ?? 0) > 1 ? { required: false } : null),
  },
  return: { seat: ({ state }) => ({ choices: some(state.match.tribute?.returns.map((one) => one.giver)) }) },
  choose: { payer: ({ state }) => ({ kind: "seat", choices: some(state.match.tribute?.payers) }) },
  anti: { stands: yesNo },
  answer: { yes: yesNo },
  result: {
    order: ({ state }) => ({
      kind: "order", min: 2, max: 3, value: state.match.order, hint: say("table.hint.result"),
    }),
    ended_ms: null,
  },
  left: { left: () => ({ kind: "counts", max: 13, value: { N: "", W: "", S: "", E: "" } }) },
  add_time: { seconds: () => ({ kind: "span", value: 120, hint: say("table.hint.add_time") }) },
  shuffled: { seat: ({ state }) => ({ choices: some(state.match.hand_duties?.shufflers) }) },
  cut_by_hand: {
    seat: ({ state }) => ({ choices: some(state.match.cutters) }),
    n: ({ state }) => range(state.match.cut_range),
  },
  hands_dealt: { turned_to: () => ({}), turned_up: () => ({ required: false }) },
  open_hand: { reason: () => ({ hint: say("table.hint.open_hand") }) },
  configure: { settings: () => ({ kind: "make", make: settings }), board: boardChoice },
  calibrate: { board: boardChoice },
};

const OF_A_BOARD = /^(LINE|BOARD|PORT|WRONG_(BOARD|KIND|PROTOCOL|FIRMWARE|SETTINGS))|^(STOPPED|BACKEND_MISMATCH|STALL)$/;

/** Functions that convert the answers into arguments, if they differ. */
const PACK = {
  start_deal: (values) => ({ uncut: true, reason: values.reason }),
  confirm: ({ seat }) => (seat === "both" ? {} : { seat }),
  // The page's own reasons are sent as keys, so that each reader sees them in their language.
  hold: (said) => ({ ...said, reason: said.reason === say("table.reason.at_table") ? "at_table" : said.reason }),
  replace_set: ({ set, other, back }) => ({ set: other || set, ...(other && back ? { back } : {}) }),
};

const CHECKS = {
  result: ({ order = [] }) => {
    const pair = order.length > 1 && partner(order[0]) === order[1];
    if (pair ? order.length === 2 : order.length === 3) return null;
    return say("table.hint.result");
  },
  replace_set: ({ set, other }) => (set || other ? null : say("field.missing", { name: say("table.arg.set") })),
  cut_by_hand: ({ seat, n }) => ((seat === undefined) === (n === undefined) ? null : say("table.hint.both")),
};

/** Return the question for a command, or null if nothing is asked.
 *
 * `given`: the known arguments. Returns {form, pack(values) → args}.
 */
export function commandQuestion(ctx, cmd, given = {}) {
  const { state, me } = ctx;
  if (STRAIGHT[cmd]?.(state, me)) return null;
  if (cmd === "set_match") return layOut(state);
  const offer = (ctx.fresh() && ctx.offers?.get(cmd)) || null;
  const seats = offer?.seats ?? null;
  const known = ctx.commands[cmd]?.args ?? [];
  const fields = known
    .filter((arg) => !(arg.name in given) && !["verbal", "by"].includes(arg.name))
    .map((arg) => fieldOf(cmd, arg, { state, me, seats, offer, given }))
    .filter(Boolean);
  if (cmd === "replace_set") fields.splice(1, 0, { name: "other", kind: "text", label: say("table.arg.new-set") });
  const byWord = known.some((arg) => arg.name === "by") && me.role !== "chief";
  if (byWord) {
    const only = Boolean(offer?.by_word);
    fields.push({ name: "by", kind: "text", label: say("table.arg.by"), hint: only ? say("table.hint.by-word") : say("table.hint.by"), required: only, max: 64 });
  }
  if (!fields.length) return null;
  return {
    form: {
      title: commandLabel(ctx, cmd), text: sure(`table.sure.${cmd}-text`), fields, check: CHECKS[cmd],
      danger: FINAL.has(cmd) || cmd === "start_deal", yes: commandLabel(ctx, cmd),
    },
    pack: (values) => {
      const { by, ...said } = values;
      const args = { ...given, ...(PACK[cmd]?.(said) ?? said) };
      return by ? { ...args, verbal: true, by } : args;
    },
  };
}

/** Return the question before a command without fields, or null if it needs none. */
export function confirmationQuestion(ctx, cmd) {
  if (!FINAL.has(cmd)) return null;
  return {
    title: sure(`table.sure.${cmd}`) || commandLabel(ctx, cmd), text: sure(`table.sure.${cmd}-text`), yes: commandLabel(ctx, cmd), danger: true,
  };
}

/** Return the label of a command. The label of `confirm` (确认) depends on the phase. */
export function commandLabel(ctx, cmd) {
  const { state, commands } = ctx;
  if (cmd === "start_deal" && state && startsWithoutCut(state)) return say("table.uncut");
  if (cmd === "confirm" && state && hasText(`table.green.${green(state.match)}`)) return say(`table.green.${green(state.match)}`);
  return textOf(commands[cmd] ?? {}, "label") || cmd;
}

/** Return true if `start_deal` would continue the present deal without a cut. */
export function startsWithoutCut(state) {
  return state.machine.phase === "committed";
}

/** Return the meaning of the green button now: one for each phase, three during play. */
function green({ phase, led, outs }) {
  if (phase !== "play") return phase;
  if (!led) return "lead";
  return outs.length ? "out" : "played";
}

function sure(key) {
  return hasText(key) ? say(`table.sure.${key.slice("table.sure.".length)}`) : "";
}

function fieldOf(cmd, arg, about) {
  const kind = arg.kind === "choice" && !arg.choices ? "text" : arg.kind;
  const base = {
    name: arg.name, kind, required: arg.required, min: arg.min ?? undefined, max: arg.max ?? undefined,
    label: hasText(`table.arg.${arg.name}`) ? say(`table.arg.${arg.name}`) : textOf(arg, "words") || arg.name,
    value: arg.default ?? undefined,
    choices: arg.kind === "choice" ? arg.choices?.map((one) => [one, String(one)]) : (arg.kind === "seat" && about.seats) || undefined,
  };
  const own = FIELDS[cmd]?.[arg.name];
  if (own === null) return null;
  const change = own?.(about);
  if (change === null) return null;
  const made = { ...base, ...change };
  const drawn = DRAWN[made.kind];
  return drawn ? { ...made, kind: "make", make: () => drawn({ ...made, names: players(about.state) }) } : made;
}

/** Kinds of arguments with their own pickers. */
const DRAWN = { seat: makeSeatPicker, order: makeOrderPicker, card: makeCardPicker };

function players({ match }) {
  return Object.fromEntries(SEATS.map((seat) => [seat, match.pairs?.[sideOf(seat)]?.players?.[seat] ?? ""]));
}

function chiefOnly({ me }) {
  return me.role === "chief" ? {} : null;
}

function yesNo() {
  return { kind: "choice", required: true, choices: [[true, say("table.pick.yes")], [false, say("table.pick.no")]] };
}

function boards() {
  return ["dealer", "reader"].map((one) => [one, say(`table.pick.${one}`)]);
}

function boardChoice() {
  return { kind: "choice", required: true, choices: boards() };
}

function some(...lists) {
  return lists.find((list) => list?.length) ?? SEATS;
}

/** Return the choices for `confirm`: seats that have not confirmed, a side, or both sides. */
function confirmers({ state, offer }) {
  const seats = some(offer?.seats, state.match.waiting_for);
  if (!(offer?.seatless ?? state.match.phase === "result")) return { choices: seats, required: true };
  const sides = SIDES.map((side) => [seats.find((seat) => sideOf(seat) === side), say(`side.${side}`)]);
  return {
    kind: "choice", label: say("table.arg.side"), value: "both", required: true,
    choices: [["both", say("table.pick.both")], ...sides.filter(([seat]) => seat)],
  };
}

function range(found) {
  if (!found) return {};
  const [min, max] = found;
  return { min, max, hint: say("table.hint.cut", { least: min, most: max }) };
}

function partner(seat) {
  return SEATS[(SEATS.indexOf(seat) + 2) % 4];
}

function setWords(state, one) {
  const bar = one.barred.length ? ` ✕ ${say("table.health.barred", { why: faultText(one.barred) })}` : "";
  const at = state.machine.card_set === one.id ? ` · ${say("table.health.in")}` : "";
  return `${one.id} (${one.back})${at}${bar}`;
}

function open(state) {
  const alerts = state.alerts.map((one) => [one.name, textOf({ en: one.cause, zh: one.cause_zh })]);
  const calls = state.calls.map((one) => [one.reason.toUpperCase(), textOf(one, "words") || one.reason]);
  return [...new Map([...alerts, ...calls]).entries()];
}

/** Make the field for a board's settings: in each line a name and a number. */
function settings() {
  const control = h("textarea", { rows: 4, id: "settings-lines", autocomplete: "off", spellcheck: "false" });
  return {
    node: h("p", { class: "field" }, h("label", { for: "settings-lines" }, say("table.arg.settings")), control),
    focus: () => control.focus(),
    read: () => {
      const lines = control.value.split("\n").map((one) => one.trim()).filter(Boolean);
      const pairs = lines.map((one) => one.match(/^(\w+)[\s=]+(\d+)$/));
      if (!lines.length || pairs.some((one) => !one)) return { fault: say("table.arg.settings") };
      return { value: Object.fromEntries(pairs.map(([, name, number]) => [name, Number(number)])) };
    },
  };
}

/** Return the form for a new match, filled with the values of the last one. */
function layOut(state) {
  const { match } = state;
  const name = (side, part) => match.pairs?.[side]?.[part] ?? "";
  const text = (key, words, value, more = {}) => ({ name: key, kind: "text", label: words, value, required: true, max: 64, ...more });
  const pair = (side) => [
    text(`${side}.id`, say("table.arg.pair-id", { side: say(`side.${side}`) }), name(side, "id")),
    text(`${side}.name`, say("table.arg.pair-name", { side: say(`side.${side}`) }), name(side, "name")),
    ...[...side].map((seat) => text(`${side}.${seat}`, say("table.arg.player", { seat: say(`seat.${seat}`) }),
      match.pairs?.[side]?.players?.[seat] ?? "", { required: false })),
  ];
  return {
    form: {
      title: say("table.arg.set_match"), text: say("table.hint.set_match"), yes: say("table.arg.set_match"),
      fields: [
        text("match_id", say("table.arg.match_id"), match.phase === "setup" ? match.match : ""),
        text("event", say("table.arg.event"), match.event ?? ""),
        { name: "round", kind: "int", label: say("table.arg.round"), required: true, min: 1, max: 999, value: match.round ?? 1 },
        { name: "match_no", kind: "int", label: say("table.arg.match_no"), required: true, min: 1, max: 9999, value: match.match_no ?? 1 },
        text("table_no", say("table.arg.table_no"), match.table_no ?? ""),
        { name: "stage", kind: "choice", label: say("table.arg.stage"), required: true, value: match.stage ?? "swiss",
          choices: ["swiss", "round_robin", "knockout"].map((one) => [one, say(`table.stage.${one}`)]) },
        ...pair("NS"), ...pair("EW"),
      ],
    },
    pack: (values) => {
      const { match_id, event, round, match_no, table_no, stage } = values;
      const of = (side) => ({
        id: values[`${side}.id`], name: values[`${side}.name`],
        players: Object.fromEntries([...side].filter((seat) => values[`${side}.${seat}`]).map((seat) => [seat, values[`${side}.${seat}`]])),
      });
      return { match_id, event, round, match_no, table_no, stage, pairs: { NS: of("NS"), EW: of("EW") } };
    },
  };
}
