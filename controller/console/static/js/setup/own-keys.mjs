// The console's own keys, and the command that admits them at a table.

import { fill, h, text } from "../dom.mjs";
import { say } from "../words.mjs";

export class OwnKeys {
  constructor(node, commands) {
    this.node = node;
    this.commands = commands;
  }

  draw(keys) {
    const drawn = JSON.stringify(keys);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    fill(this.node, keys.map(line));
    const good = keys.filter((one) => !one.why_not);
    text(this.commands, good.map((one) => `dealtable keys admit table.toml ${one.file}`).join("\n"));
  }
}

function line(one) {
  const role = h("b", null, say(`role.${one.role}`));
  if (one.why_not) return h("li", null, h("p", { class: "line" }, role, h("span", { class: "bad" }, "✕ ", one.why_not)));
  return h("li", null, h("p", { class: "line" }, role, h("span", null, one.name),
    h("code", { class: "mark" }, one.fingerprint),
    h("a", { class: "button", href: `/api/setup/keys/${one.role}`, download: one.file }, say("setup.download", { file: one.file }))));
}
