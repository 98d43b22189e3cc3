// A claim of a wrong count: stop, search, and compare four hands with the right numbers. Then play
// continues, or the cards are dealt again. After the first lead nothing is dealt again.

import { askValues } from "../dialog.mjs";
import { fill, h, shown, text } from "../dom.mjs";
import { faultText } from "../faults.mjs";
import { makeCommandButton } from "../command-button.mjs";
import { SEATS, sideOf } from "../seats.mjs";
import { say } from "../words.mjs";
import { labelWithoutDots, makeSpokenFields, makeSwitch, seatText, sideText } from "./parts.mjs";

const PLACES = ["pockets", "floor", "under", "sleeves"];

/** Make the panel: {node, draw()}. */
export function makeCountPanel(at) {
  const about = { deal: () => at.state?.match.deal, attempt: () => at.state?.match.attempt };
  const title = h("p", { class: "claimed" });
  const second = h("p", { class: "wait", hidden: true });
  const machine = h("p", { class: "quiet" });
  const searched = PLACES.map((one) => makeSwitch(say(`rulings.search.${one}`)));
  const inputs = Object.fromEntries(SEATS.map((seat) => [seat, h("input", {
    type: "number", inputmode: "numeric", min: 0, max: 108, step: 1, id: `count-${seat}`, oninput: drawOutcome,
  })]));
  const due = Object.fromEntries(SEATS.map((seat) => [seat, h("small")]));
  const names = Object.fromEntries(SEATS.map((seat) => [seat, h("label", { for: `count-${seat}` })]));
  const found = makeSwitch(say("rulings.found"), { hint: say("rulings.found-hint"), onchange: drawOutcome });
  const outcome = h("p", { class: "outcome", role: "status" });
  const word = makeSpokenFields(at);
  const enter = makeCommandButton({
    table: at.table, cmd: "recount", label: say("rulings.enter-counts"), kind: "go", ...about,
    args: counted,
    confirm: (args) => args && (right(args.counts) && !(found.value() && at.book?.found_redeals) ? null : {
      title: say("rulings.redeal-title"), text: say("rulings.redeal-text", { counts: SEATS.map((seat) => `${say(`seat.${seat}`)} ${args.counts[seat]}`).join("  ") }),
      yes: say("rulings.redeal-yes"), danger: true,
    }),
    after: () => {
      for (const seat of SEATS) inputs[seat].value = "";
      for (const one of [...searched, found]) one.set(false);
    },
  });
  const claim = makeCommandButton({
    table: at.table, cmd: "claim_count", label: say("rulings.claim"), ...about,
    args: async () => askValues({ title: labelWithoutDots(say("rulings.claim")), text: say("rulings.claim-text"), fields: [
      { name: "seat", kind: "seat", label: say("rulings.who-claims"), required: true, choices: at.offer("claim_count")?.seats ?? SEATS },
    ] }),
  });
  const replace = makeCommandButton({
    table: at.table, cmd: "replace_set", label: say("rulings.replace-set"), ...about,
    args: async () => askValues({ title: labelWithoutDots(say("rulings.replace-set")), text: say("rulings.replace-text"), fields: [
      { name: "set", kind: "choice", label: say("rulings.set"), required: true,
        choices: (at.state?.sets ?? []).map((one) => [one.id, setWords(one)]) },
    ] }),
  });
  const steps = h("ol", { class: "ways" },
    h("li", null, h("h3", null, say("rulings.step.stop")), h("p", null, say("rulings.step.stop-text")), machine),
    h("li", null, h("h3", null, say("rulings.step.search")), h("div", { class: "toggles" }, searched.map((one) => one.node)),
      h("p", null, h("button", { type: "button", class: "plain small", onclick: () => at.accuse({ offence: "card_count", step: null }) }, say("rulings.on-person")))),
    h("li", null, h("h3", null, say("rulings.step.count")), h("div", { class: "four" }, SEATS.map((seat) =>
      h("p", { class: "one" }, names[seat], inputs[seat], due[seat]))),
    h("p", null, h("button", { type: "button", class: "plain small", onclick: asDue }, say("rulings.all-as-due"))), found.node),
    h("li", null, h("h3", null, say("rulings.step.decide")), outcome, second, word.node, enter.node));
  const calm = h("div", { class: "stack" }, h("p", null, say("rulings.no-claim")), claim.node,
    h("p", { class: "quiet" }, say("rulings.after-lead")));
  const claims = h("ul");
  const node = h("div", { class: "two" },
    h("section", { class: "panel", "aria-labelledby": "count-title" }, h("h2", { id: "count-title" }, say("rulings.tab.count")), title, steps, calm),
    h("section", { class: "panel stack", "aria-labelledby": "claims-title" }, h("h2", { id: "claims-title" }, say("rulings.claims")), claims,
      h("p", { class: "quiet" }, say("rulings.claims-legend")), h("h3", null, say("rulings.sets")), replace.node));

  function demanded(seat) {
    return at.desk.counts.find((one) => one.seat === seat);
  }

  function fits(seat, number) {
    const one = demanded(seat);
    return one && (number === one.cards || (one.or_one_less && number === one.cards - 1));
  }

  const right = (counts) => SEATS.every((seat) => fits(seat, counts[seat]));

  function read() {
    const counts = Object.fromEntries(SEATS.map((seat) => [seat, inputs[seat].value === "" ? null : Number(inputs[seat].value)]));
    return Object.values(counts).every((one) => Number.isInteger(one) && one >= 0 && one <= 108) ? counts : null;
  }

  async function counted() {
    const counts = read();
    if (!counts) {
      at.tell(say("rulings.four-counts"), "bad");
      return null;
    }
    if (isSecond() && !word.ready()) {
      at.tell(say("rulings.word-only"), "bad");
      return null;
    }
    return { counts, ...(found.value() ? { found: true } : {}), ...word.args() };
  }

  function asDue() {
    for (const seat of SEATS) inputs[seat].value = demanded(seat)?.cards ?? "";
    drawOutcome();
  }

  function isSecond() {
    const match = at.state?.match;
    if (!match?.claimed) return false;
    return match.claims.filter((seat) => sideOf(seat) === sideOf(match.claimed)).length > 1;
  }

  function drawOutcome() {
    const counts = read();
    for (const seat of SEATS) {
      const value = inputs[seat].value;
      inputs[seat].setAttribute("aria-invalid", String(value !== "" && !fits(seat, Number(value))));
    }
    if (!counts) {
      text(outcome, "");
      outcome.dataset.kind = "";
      return;
    }
    const sum = SEATS.reduce((all, seat) => all + counts[seat], 0);
    const want = SEATS.reduce((all, seat) => all + (demanded(seat)?.cards ?? 0), 0);
    const good = right(counts);
    const redeals = !good || (found.value() && at.book?.found_redeals);
    outcome.dataset.kind = redeals ? "bad" : "good";
    text(outcome, `${redeals ? "✕ " : "✓ "}${good
      ? redeals ? say("rulings.outcome.found-redeals") : say(found.value() ? "rulings.outcome.found" : "rulings.outcome.right")
      : say("rulings.outcome.wrong", { sum, want })}`);
  }

  return {
    node,
    draw: () => {
      const match = at.state?.match;
      if (!match) return;
      const claimed = Boolean(match.claimed);
      shown(steps, claimed);
      shown(title, claimed);
      shown(calm, !claimed);
      if (claimed) text(title, say("rulings.claimed-by", { who: seatText(at, match.claimed) }));
      shown(second, isSecond());
      text(second, isSecond() ? say("rulings.second-claim", { pair: sideText(at, sideOf(match.claimed)) }) : "");
      word.shown(isSecond());
      const landed = at.state.machine.landed;
      text(machine, landed ? say("rulings.machine-dealt", { fed: at.state.machine.fed, hands: SEATS.map((seat) => `${say(`seat.${seat}`)} ${landed[seat]}`).join("  ") }) : "");
      for (const seat of SEATS) {
        text(names[seat], seatText(at, seat));
        const one = demanded(seat);
        text(due[seat], one ? say(one.or_one_less ? "rulings.due-or" : "rulings.due", { cards: one.cards, less: one.cards - 1 }) : "");
      }
      drawOutcome();
      enter.offer(at.offer("recount"));
      claim.offer(at.offer("claim_count"));
      replace.offer(at.offer("replace_set"));
      fill(claims, ["NS", "EW"].map((side) => h("li", null, sideText(at, side), say("rulings.colon"),
        say("rulings.claims-of", { n: match.claims.filter((seat) => sideOf(seat) === side).length }))));
    },
  };
}

function setWords(one) {
  const why = one.barred.length ? say("rulings.set-barred", { why: faultText(one.barred) }) : "";
  return say("rulings.set-words", { id: one.id, back: one.back }) + why;
}
