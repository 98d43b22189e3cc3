// Rare and serious decisions. Each shows its effect before a person confirms.

import { askValues } from "../dialog.mjs";
import { h, shown } from "../dom.mjs";
import { makeCommandButton } from "../command-button.mjs";
import { SEATS } from "../seats.mjs";
import { say, textOf } from "../words.mjs";
import { labelWithoutDots, makeChiefField, previewTexts, requestPreview, showPreview, sideText } from "./parts.mjs";

/** Make the panel: {node, draw()}. */
export function makeSeriousDecisionPanel(at) {
  const about = { deal: () => at.state?.match.deal, attempt: () => at.state?.match.attempt };
  const reason = { name: "reason", kind: "text", label: say("rulings.reason"), hint: say("rulings.reason-hint"), required: true, max: 200 };

  /** Show the effect and ask for a reason. A referee also enters the name of the deciding chief. */
  async function weighed({ cmd, title, words, fields = [], verbal = true, args = (said) => said }) {
    const name = verbal ? makeChiefField(at) : null;
    const ahead = cmd ? await requestPreview(at, cmd, { reason: "–" }) : null;
    const said = await askValues({
      title: labelWithoutDots(title), text: words, more: ahead ? showPreview(ahead) : null, danger: true,
      fields: [...fields, reason, ...(name ? [name] : [])], yes: labelWithoutDots(title),
    });
    if (!said) return null;
    const { by, ...rest } = said;
    return args({ ...rest, ...(by ? { verbal: true, by } : {}) });
  }

  async function forfeit() {
    const offences = (at.book?.ladder?.groups ?? []).flatMap((one) => one.offences)
      .filter((one) => ["default", "late", "disobedience", "grave_foul", "collusion"].includes(one.id));
    const said = await askValues({
      title: labelWithoutDots(say("rulings.forfeit")), text: say("rulings.forfeit-text"), danger: true, yes: say("rulings.next"),
      fields: [
        { name: "side", kind: "side", label: say("rulings.who-loses"), required: true },
        { name: "offence", kind: "choice", label: say("rulings.what"), required: true, value: "default", choices: offences.map((one) => [one.id, textOf(one)]) },
        reason,
      ],
    });
    if (!said) return null;
    const seen = await requestPreview(at, "forfeit", said);
    const sure = await askValues({
      title: say("rulings.forfeit-title", { side: sideText(at, said.side) }), text: previewTexts(seen).join("\n"),
      more: seen.refused ? showPreview(seen) : null, danger: true, yes: labelWithoutDots(say("rulings.forfeit")),
    });
    return sure && said;
  }

  const acts = [
    ["redeal", "plain", say("rulings.redeal"), say("rulings.redeal-about"), () => weighed({ cmd: "redeal", title: say("rulings.redeal"), words: say("rulings.redeal-about") })],
    ["extra_deal", "plain", say("rulings.extra-deal"), say("rulings.extra-deal-about"), () => weighed({ cmd: "extra_deal", title: say("rulings.extra-deal"), words: say("rulings.extra-deal-about") })],
    ["name_leader", "go", say("rulings.name-leader"), say("rulings.name-leader-about"), () => askValues({
      title: labelWithoutDots(say("rulings.name-leader")), text: say("rulings.name-leader-about"),
      fields: [{ name: "seat", kind: "seat", label: say("rulings.who-leads"), required: true, choices: at.offer("name_leader")?.seats ?? SEATS }],
    })],
    ["dealt_by_hand", "plain", say("rulings.by-hand"), say("rulings.by-hand-about"), () => weighed({ title: say("rulings.by-hand"), words: say("rulings.by-hand-about"), verbal: false })],
    ["stop_deal", "plain", say("rulings.stop-deal"), say("rulings.stop-deal-about"), () => weighed({ title: say("rulings.stop-deal"), words: say("rulings.stop-deal-about"), verbal: false })],
    ["void", "plain", say("rulings.void"), say("rulings.void-about"), () => weighed({ title: say("rulings.void"), words: say("rulings.void-about"), verbal: false })],
    ["forfeit", "plain", say("rulings.forfeit"), say("rulings.forfeit-text"), forfeit],
  ];
  const machine = { deal: () => at.state?.machine.deal, attempt: () => at.state?.machine.attempt };
  const made = acts.map(([cmd, kind, label, words, args]) => {
    const button = makeCommandButton({ table: at.table, cmd, label, kind, args, ...(cmd === "void" ? machine : about) });
    const node = h("div", { class: "rare", data: { cmd } }, h("h3", null, label, CHIEFS.has(cmd) ? h("span", { class: "badge chiefs" }, "⚑ ", say("rulings.chiefs")) : null),
      h("p", { class: "quiet" }, words), button.node);
    return { cmd, button, node };
  });
  const node = h("section", { class: "panel", "aria-labelledby": "rare-title" },
    h("h2", { id: "rare-title" }, say("rulings.tab.more")), h("div", { class: "rares" }, made.map((one) => one.node)));
  return {
    node,
    draw: () => {
      for (const { cmd, button, node: box } of made) {
        button.offer(at.offer(cmd));
        shown(box, !["forfeit", "void"].includes(cmd) || at.chief());
      }
    },
  };
}

const CHIEFS = new Set(["redeal", "extra_deal", "void", "forfeit"]);
