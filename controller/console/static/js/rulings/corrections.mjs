// Corrections of a wrong result. Level, leader and tribute of a played deal are facts and stay. The
// result is corrected, and the chief chooses what happens to the later deals. The page asks the
// table for the effect of each choice on the levels before a person chooses.

import { get } from "../api.mjs";
import { attr, fill, h, keyed } from "../dom.mjs";
import { field } from "../fields.mjs";
import { makeCommandButton } from "../command-button.mjs";
import { sideOf } from "../seats.mjs";
import { pairText, say } from "../words.mjs";
import { makeChoiceButtons, makeSpokenFields, previewTexts, requestPreview, showPreview } from "./parts.mjs";

const CHOICES = ["from_now", "void_later", "stand"];
/** The page's own reasons are sent as keys, so that each reader sees them in their language. */
const REASONS = ["order_entered_wrongly", "order_misread", "both_sides_agree"];

/** Make the panel: {node, draw(), opened()}. */
export function makeCorrectionPanel(at) {
  const about = { deal: () => at.state?.match.deal, attempt: () => at.state?.match.attempt };
  const deals = h("ol", { class: "deals" });
  const rows = new Map();
  const done = h("ul", { class: "corrected" });
  const editor = h("div", { class: "stack" });
  let sheet = null;
  let corrected = [];
  let of = "";
  let open = null;

  const node = h("div", { class: "two" },
    h("section", { class: "panel", "aria-labelledby": "deals-title" }, h("h2", { id: "deals-title" }, say("rulings.deals")), deals, done),
    h("section", { class: "panel", "aria-labelledby": "correct-title" }, h("h2", { id: "correct-title" }, say("rulings.correct")),
      h("p", { class: "quiet" }, say("rulings.correct-text")), editor));

  async function look() {
    const match = at.state?.match;
    if (!match?.match) return;
    const wanted = JSON.stringify([match.match, match.deal, match.phase, match.levels, match.version, match.points, match.spoken]);
    if (wanted === of) return;
    of = wanted;
    try {
      ({ sheet, corrected } = await get(`/api/tables/${encodeURIComponent(at.table)}/sheet`));
    } catch (error) {
      sheet = null;
      keyed(deals, rows, [`✕ ${error.message}`], () => h("li", { class: "quiet" }, error.message));
      return;
    }
    draw();
  }

  function draw() {
    if (!sheet) return;
    const lines = sheet.deals ?? [];
    const none = h("li", { class: "quiet" }, say("rulings.no-deals"));
    const shown = new Map(lines.map((one) => [JSON.stringify([one, at.may()]), one]));
    keyed(deals, rows, shown.size ? [...shown.keys()] : [""], (key) => (key ? row(shown.get(key)) : none));
    for (const [key, node] of rows) attr(node, "aria-current", key && open === shown.get(key).deal ? "true" : null);
    fill(done, (sheet.corrections ?? []).map((one, n) => h("li", null, say("rulings.corrected-line", {
      deal: one.deal, was: outcomeText(at, one.was), now: outcomeText(at, one.now), choice: say(`rulings.choice.${one.choice}`),
      by: pairText(corrected[n].by), reason: pairText(corrected[n].reason),
      confirmed: corrected[n].confirmed ? say("rulings.comma") + pairText(corrected[n].confirmed) : "",
    }))));
  }

  /** Make the row of a deal: its result, and the button that corrects it. */
  function row(one) {
    return h("li", null,
      h("span", null, say("rulings.deal-line", { deal: one.deal, level: one.level })), h("b", null, resultText(at, one)),
      one.levels ? h("span", null, say("rulings.behind", { ns: one.levels.NS, ew: one.levels.EW })) : h("span", { class: "bad" }, say("rulings.does-not-count")),
      one.corrected ? h("span", { class: "wait" }, say("rulings.is-corrected")) : null,
      at.may() && one.counts ? h("button", { type: "button", class: "plain small", onclick: () => edit(one) }, say("rulings.correct-deal", { deal: one.deal })) : null);
  }

  function close() {
    open = null;
    fill(editor);
    draw();
  }

  function edit(one) {
    open = one.deal;
    draw();
    const match = at.state.match;
    const later = sheet.deals.some((each) => each.deal > one.deal && each.counts) || isDealRunning(match);
    const chiefs = later || match.signed.length > 0;
    const order = field({ name: "order", kind: "order", label: say("rulings.finish-order"), hint: say("rulings.finish-hint"), value: [], min: 2, max: 3 });
    const reasons = makeChoiceButtons({ label: say("rulings.reason"), free: true, options: REASONS.map((each) => [each, say(`rulings.reason.${each}`)]), onchange: (value) => {
      if (value) why.value = say(`rulings.reason.${value}`);
    } });
    const why = h("input", { type: "text", maxlength: 200, "aria-label": say("rulings.reason"), placeholder: say("rulings.reason") });
    const word = makeSpokenFields(at);
    word.shown(chiefs);
    const seen = {};
    const boxes = Object.fromEntries(CHOICES.map((choice) => [choice, h("div")]));
    const refused = h("div");
    let choice = later ? null : "from_now";
    const radios = h("div", { class: "three", role: "radiogroup", "aria-label": say("rulings.three") },
      (later ? CHOICES : ["from_now"]).map((each) => {
        const radio = h("input", { type: "radio", name: "choice", value: each, id: `choice-${each}`, onchange: () => {
          choice = each;
        } });
        radio.checked = !later;
        return h("div", { class: "choice" }, radio, h("label", { for: radio.id }, h("b", null, later ? say(`rulings.choice.${each}`) : say("rulings.plain-correction")),
          h("small", null, say(`rulings.choice-text.${each}`)), boxes[each]));
      }));
    const args = () => {
      const { value, fault } = order.read();
      if (fault || !value?.length) return null;
      const said = why.value.trim();
      const proposed = REASONS.find((each) => said === say(`rulings.reason.${each}`));
      return { deal: one.deal, order: value, reason: proposed ?? (said || "–") };
    };
    const press = makeCommandButton({
      table: at.table, cmd: "adjust", label: say("rulings.correct"), kind: "danger", ...about,
      args: () => {
        const wanted = args();
        const lacks = !wanted ? say("rulings.order-first") : !why.value.trim() ? say("rulings.reason-first")
          : !choice ? say("rulings.choice-first") : chiefs && !word.ready() ? say("rulings.word-only") : "";
        if (lacks) {
          at.tell(lacks, "bad");
          return null;
        }
        return { ...wanted, choice, ...word.args() };
      },
      confirm: (said) => said && {
        title: say("rulings.correct-title", { deal: one.deal }),
        text: [`${resultText(at, one)} → ${said.order.map((seat) => say(`seat.${seat}`)).join(say("rulings.and"))}`, ...previewTexts(seen[choice])].join("\n"),
        yes: say("rulings.correct"), danger: true,
      },
      after: () => {
        at.tell(say("rulings.corrected-now", { deal: one.deal }));
        setTimeout(() => {
          if (open === one.deal) close();
          of = "";
          look();
        }, 2000);
      },
    });
    press.offer(at.offer("adjust"));
    // Each tap on a seat asks for the effect.
    let asked = "";
    const ahead = async () => {
      const wanted = args();
      const key = JSON.stringify(wanted?.order ?? null);
      if (key === asked) return;
      asked = key;
      const legal = later ? CHOICES : ["from_now"];
      fill(refused);
      for (const each of legal) {
        seen[each] = null;
        fill(boxes[each], isWhole(wanted?.order) ? showPreview(null) : null);
      }
      if (!isWhole(wanted?.order)) return;
      for (const each of legal) {
        const found = await requestPreview(at, "adjust", { ...wanted, choice: each });
        if (asked !== key) return;
        seen[each] = found;
        fill(boxes[each], showPreview(found));
      }
      // A refusal that is the same for every choice is shown once.
      const [why, ...others] = new Set(legal.map((each) => seen[each].refused));
      if (!why || others.length) return;
      for (const each of legal) fill(boxes[each]);
      fill(refused, showPreview({ refused: why }));
    };
    order.node.addEventListener("click", () => setTimeout(ahead, 0));
    fill(editor,
      h("p", null, h("b", null, say("rulings.correct-title", { deal: one.deal })), " ", say("rulings.written", { result: resultText(at, one) })),
      order.node, h("div", { class: "row" }, h("span", { class: "label" }, say("rulings.reason")), reasons.node, why),
      later ? h("p", { class: "wait" }, h("span", { class: "sign" }, "⚑"), say("rulings.later-played")) : null,
      match.signed.length ? h("p", { class: "wait" }, h("span", { class: "sign" }, "⚑"), say("rulings.signed-already")) : null,
      refused, radios, word.node, press.node);
    order.focus();
  }

  return {
    node,
    opened: () => {
      of = "";
      look();
    },
    draw: () => {
      if (!node.closest("[hidden]")) look();
    },
  };
}

/** Return true if a deal has begun and has no result. */
function isDealRunning(match) {
  return ["count_check", "anti_check", "tribute", "return", "choices", "play", "result"].includes(match.phase);
}

/** Return true if a finishing order ends a deal: two partners first, else three seats. */
function isWhole(order) {
  if (!order || order.length < 2) return false;
  return order.length === (sideOf(order[0]) === sideOf(order[1]) ? 2 : 3);
}

function resultText(at, one) {
  const gain = one.gain === null || one.gain === undefined ? "" : ` +${one.gain}`;
  return `${outcomeText(at, one.outcome)}${one.outcome.forfeited_by ? "" : ` ${say(`rulings.result.${one.result}`)}`}${gain}`;
}

function outcomeText(at, outcome) {
  if (outcome.forfeited_by) return say("rulings.forfeited", { side: say(`side.${outcome.forfeited_by}`) });
  return outcome.order.map((seat) => say(`seat.${seat}`)).join("–");
}
