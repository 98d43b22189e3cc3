// Every command of a table as a button: the likely next ones, all by group, and by seat.

import { cardText, RANKS } from "../cards.mjs";
import { askValues, showMessage } from "../dialog.mjs";
import { byId, data, fill, h, keyed, shown, text } from "../dom.mjs";
import { rememberFold } from "../fold-state.mjs";
import { makeCommandButton } from "../command-button.mjs";
import { sideOf } from "../seats.mjs";
import { hasText, language, say, textOf } from "../words.mjs";
import { transferMatch } from "./transfer.mjs";
import { commandLabel, commandQuestion, confirmationQuestion, FINAL, startsWithoutCut } from "./forms.mjs";
import { GAME, NEXT, PLACES } from "./button-places.mjs";

const AT_SEAT = ["attend", "seat", "confirm", "out", "withdraw_out", "claim_count", "call", "answer", "call_clock", "warn", "name_leader", "tribute", "return", "open_hand"];
const GO = new Set([
  "attend", "release", "confirm", "start_deal", "start_match", "set_match", "cut", "result", "left", "resume", "clear_jam",
  "name_leader", "anti", "shuffled", "cut_by_hand", "turned_up", "hands_dealt",
]);
const OTHERS = { observer: [], technician: ["technician", "machine"] };

/** Make the buttons of this page. Sets `ctx.spec`, `ctx.offer`, `ctx.fresh` and `ctx.atSeat`. */
export function makeCommandButtons(ctx) {
  const groups = new Map();
  const buttons = new Map();
  const next = new Map();
  ctx.spec = (cmd, given) => spec(ctx, cmd, given);
  ctx.offer = (cmd, seat) => offer(ctx, cmd, seat);
  ctx.fresh = () => ctx.offersOf === phaseKey(ctx.state);
  ctx.calm = () => ctx.offersAt === waitKey(ctx.state);
  ctx.atSeat = (seat) => atSeat(ctx, seat);

  function draw() {
    const { state, me } = ctx;
    for (const part of ["now", "orders"]) shown(byId(part), state && me);
    if (!state || !me) return;
    if (!groups.size && Object.keys(ctx.commands).length) make();
    const { match } = state;
    text(byId("now-next"), match.next_zh || match.next_en ? textOf(match, "next") : say(`table.machine.${state.machine.phase}`));
    const link = elsewhere(ctx);
    if (byId("now-link").textContent !== (link?.textContent ?? "")) fill(byId("now-link"), link);
    drawNext();
    for (const [name, group] of groups) drawGroup(name, group);
  }

  function make() {
    const first = OTHERS[ctx.me.role]?.[0];
    for (const [name, cmds] of Object.entries(PLACES)) {
      const now = h("div", { class: "buttons" });
      const later = h("div", { class: "buttons" });
      const count = h("summary");
      const rest = rememberFold(`later ${name}`, h("details", { class: "later" }, count, later));
      const node = rememberFold(`group ${name}`, h("details", { class: "group", data: { group: name }, open: name === (first ?? "deal") },
        h("summary", null, say(`table.group.${name}`)), now, rest));
      groups.set(name, { node, now, later, rest, count, cmds });
      byId("groups").append(node);
      for (const cmd of cmds) {
        const button = makeCommandButton(spec(ctx, cmd));
        buttons.set(`${name} ${cmd}`, button);
      }
    }
  }

  /** Show allowed commands first. The others follow, each with its reason. */
  function drawGroup(name, group) {
    const found = group.cmds.map((cmd) => [cmd, buttons.get(`${name} ${cmd}`), offer(ctx, cmd)]);
    for (const [cmd, button, one] of found) {
      button.offer(one);
      button.node.hidden = !played(ctx.state, cmd);
      if (button.busy() || button.node.dataset.fate || button.node.contains(document.activeElement)) continue;
      const home = one?.refused ? group.later : group.now;
      if (button.node.parentElement !== home) home.insertBefore(button.node, behind(group, home, cmd));
    }
    const later = [...group.later.children].filter((one) => !one.hidden).length;
    shown(group.rest, later);
    text(group.count, say("table.group.not-now", { n: later }));
    shown(group.node, later || [...group.now.children].some((one) => !one.hidden));
  }

  /** Return the button before which a command's button belongs. Its place is always the same. */
  function behind({ node, cmds }, home, cmd) {
    const later = cmds.slice(cmds.indexOf(cmd) + 1).map((one) => buttons.get(`${node.dataset.group} ${one}`).node);
    return later.find((one) => one.parentElement === home) ?? null;
  }

  /** Return true if a command may be sent. A phase refusal is ignored if the offers are older. */
  function open(cmd) {
    const refused = offer(ctx, cmd)?.refused;
    return !refused || (refused.code === "WRONG_PHASE" && !ctx.fresh());
  }

  function drawNext() {
    const { state } = ctx;
    const wanted = likely(state).filter((cmd) =>
      ctx.commands[cmd] && played(state, cmd) && open(cmd) && (cmd !== "stop_deal" || ctx.offers));
    const kept = [...next].filter(([, one]) => one.busy() || one.node.dataset.fate).map(([cmd]) => cmd);
    const cmds = [...new Set([...kept, ...wanted])];
    const nodes = new Map([...next].map(([cmd, one]) => [cmd, one.node]));
    keyed(byId("now-list"), nodes, cmds, (cmd) => {
      const made = makeCommandButton(spec(ctx, cmd));
      next.set(cmd, made);
      return made.node;
    });
    for (const cmd of next.keys()) if (!nodes.has(cmd)) next.delete(cmd);
    for (const [cmd, one] of next) one.offer(open(cmd) ? null : offer(ctx, cmd));
    data(byId("now"), "empty", cmds.length ? null : "yes");
  }

  return { draw };
}

/** Return a link to the other page with the next step; null if the step is on this page. */
function elsewhere({ state: { match }, path }) {
  const to = (place, words) => h("a", { class: "button go", href: `${path}/${place}` }, words);
  if (match.claimed) return to("rulings#count", say("table.go.count"));
  if (match.phase === "match_check") return to("rulings#more", say("table.go.more"));
  if (match.phase === "over") return to("sheet", say("table.go.sign"));
  return match.rulings.some((one) => one.state === "proposed") ? to("rulings#desk", say("table.go.desk")) : null;
}

/** Return a text that identifies the phases for which the table sent its offers. */
export function phaseKey(state) {
  return state ? `${state.machine.phase} ${state.match.phase} ${state.match.suspended ?? ""}` : "";
}

/** Return a text that identifies the calls and alerts for which the table sent its offers. */
export function waitKey(state) {
  return [...(state?.calls ?? []), ...(state?.alerts ?? [])].map((one) => one.since + (one.reason ?? one.name)).join(" ");
}

/** Return the likely commands. Those that end a pause come first. */
function likely({ match, machine, sets }) {
  const found = [];
  if (match.claimed) return ["resume"];
  if (match.suspended !== null || Object.keys(machine.pauses ?? {}).length) found.push("resume");
  if (machine.phase === "fault") found.push("acknowledge", "clear_jam");
  const loaded = sets.find((one) => one.id === machine.card_set);
  if (machine.phase === "empty" && loaded?.barred.length) found.push("replace_set");
  const phase = match.match === null ? "idle" : match.phase;
  if (machine.phase === "empty" && ["dealing", "cut", "idle"].includes(phase)) found.push("start_deal");
  if (machine.phase === "held" && phase === "idle") found.push("release");
  found.push(...(NEXT[phase] ?? []));
  return machine.phase === "committed" ? [...found, "start_deal"] : found; // a deal without a cut is the last choice
}

function kindOf(ctx, cmd) {
  if (cmd === "start_deal" && startsWithoutCut(ctx.state)) return "danger";
  if (FINAL.has(cmd)) return cmd === "release" || cmd === "start_match" ? "go" : "danger";
  return GO.has(cmd) ? "go" : "plain";
}

/** Return true if a command belongs to the game at this table. */
function played(state, cmd) {
  const { game } = state.match;
  return !game || !GAME[cmd] || GAME[cmd] === game;
}

/** Return whether a command can be sent now, with the reason if not: role, table or seat. */
function offer(ctx, cmd, seat = null) {
  const known = ctx.commands[cmd];
  if (known && ctx.me && !known.roles.includes(ctx.me.role)) {
    const roles = known.roles.filter((one) => one !== "table").map((one) => say(`role.${one}`)).join(language === "zh" ? "、" : ", ");
    const only = say("table.offer.role", { roles });
    return { cmd, seats: null, refused: { code: "WRONG_ROLE", message: only, message_zh: only, action: "", action_zh: "" } };
  }
  const one = ctx.offers?.get(cmd) ?? null;
  if (one && !one.refused && seat && one.seats && !one.seats.includes(seat)) {
    const not = say("table.offer.seat");
    return { ...one, refused: { code: "", message: not, message_zh: not, action: "", action_zh: "" } };
  }
  return one;
}

/** Return the button of one command: its question, its target, and the shown answer. */
function spec(ctx, cmd, given = {}) {
  const known = () => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
  const bound = ctx.commands[cmd]?.bound;
  return {
    table: ctx.table,
    cmd,
    label: () => commandLabel(ctx, cmd),
    kind: () => kindOf(ctx, cmd),
    deal: () => (bound === "none" || !bound ? null : ctx.state[bound].deal),
    attempt: () => (bound === "none" || !bound ? null : ctx.state[bound].attempt),
    args: async () => {
      const meant = ctx.state.match.phase; // the meaning of green depends on the phase
      const takes = new Set((ctx.commands[cmd]?.args ?? []).map((one) => one.name));
      const here = Object.fromEntries(Object.entries({ ...known(), ...(cmd === "confirm" ? { phase: meant } : {}) }).filter(([name]) => takes.has(name)));
      if (cmd === "transfer" || cmd === "take_over") {
        await transferMatch(ctx, cmd);
        return null;
      }
      const asked = commandQuestion(ctx, cmd, here);
      if (asked === null) return here;
      const values = await askValues(asked.form);
      return values === null ? null : asked.pack(values);
    },
    confirm: () => (commandQuestion(ctx, cmd, known()) === null ? confirmationQuestion(ctx, cmd) : null),
    after: (reply) => answered(ctx, cmd, reply),
  };
}

/** Show the answer of a command if it has content. */
function answered(ctx, cmd, reply) {
  const result = reply.result ?? {};
  if (cmd === "open_hand") showHand(result);
  else if (cmd === "tribute") {
    const said = result.right === undefined ? say("table.said.entered") : say(`table.said.${result.right ? "right" : "wrong"}`);
    showMessage({ title: commandLabel(ctx, cmd), text: said });
  } else if (cmd === "return") {
    const said = result.state && hasText(`table.return.${result.state}`) ? say(`table.return.${result.state}`) : say("table.said.entered");
    showMessage({ title: commandLabel(ctx, cmd), text: [said, result.article].filter(Boolean).join(" · ") });
  } else if (["selftest", "calibrate"].includes(cmd)) {
    const stalled = result.stalled ?? [];
    showMessage({ title: commandLabel(ctx, cmd), text: stalled.length ? say("table.said.stalled", { parts: stalled.join(", ") }) : say("table.said.fine") });
  }
}

/** Show a hand in this window only. After it is closed, the page contains nothing of it. */
function showHand(result) {
  const hand = result.hand;
  if (!hand) {
    showMessage({ title: say("table.hand.title", { seat: say(`seat.${result.seat}`) }), text: say("table.hand.sealed") });
    return;
  }
  const order = (card) => (card === "BJ" || card === "SJ" ? `0${card}` : String.fromCharCode(65 + RANKS.indexOf(card.slice(1))) + card[0]);
  const sorted = [...hand].sort((a, b) => order(a).localeCompare(order(b)));
  const cards = h("p", { class: "hand" }, sorted.map((card) => h("span", { class: "card", data: { suit: card[0] } }, cardText(card))));
  showMessage({ title: say("table.hand.title", { seat: say(`seat.${result.seat}`) }), text: say("table.hand.text"), more: cards })
    .then(() => fill(cards));
}

/** Show the commands for one seat. */
function atSeat(ctx, seat) {
  const made = AT_SEAT.filter((cmd) => ctx.commands[cmd] && played(ctx.state, cmd)).map((cmd) => {
    const button = makeCommandButton(spec(ctx, cmd, { seat }));
    const one = offer(ctx, cmd, seat);
    button.offer(one);
    return { node: button.node, refused: Boolean(one?.refused) };
  });
  const [can, not] = [made.filter((one) => !one.refused), made.filter((one) => one.refused)];
  const player = ctx.state.match.pairs?.[sideOf(seat)]?.players?.[seat];
  showMessage({
    close: say("table.at.close"),
    title: [say("table.at.actions", { seat: say(`seat.${seat}`) }), player].filter(Boolean).join(" · "),
    more: [
      h("div", { class: "buttons column" }, can.length ? can.map((one) => one.node) : h("p", { class: "quiet" }, say("table.offer.nothing"))),
      not.length ? h("details", { class: "later" }, h("summary", null, say("table.group.not-now", { n: not.length })),
        h("div", { class: "buttons column" }, not.map((one) => one.node))) : null,
    ],
  });
}
