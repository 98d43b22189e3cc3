// Tables on the network, and a table at a typed address. A person compares the fingerprint first.

import { post } from "../api.mjs";
import { askValues } from "../dialog.mjs";
import { data, fill, h, keyed } from "../dom.mjs";
import { say } from "../words.mjs";

const GROUP = /^[0-9a-f]{4}$/;

export class DiscoveredTables {
  constructor(node, top, look) {
    this.node = node;
    this.top = top;
    this.look = look;
    this.items = new Map();
    this.areas = [];
  }

  draw({ found }, { areas }) {
    this.areas = areas;
    const twice = (one) => found.filter((other) => other.table === one.table).length > 1;
    keyed(this.node, this.items, found.map((one) => one.handle), () => h("li"));
    for (const one of found) {
      const item = this.items.get(one.handle);
      const key = JSON.stringify([one, twice(one)]);
      if (item.key === key) continue;
      item.key = key;
      data(item, "like", one.like);
      fill(item, this.lines(one, twice(one)));
    }
  }

  lines(one, twice) {
    const act = one.like === "here" ? null : h("button", {
      class: one.like === "other_key" ? "danger" : "go", onclick: () => this.take(one),
    }, say(`setup.take.${one.like}`));
    return [
      h("p", { class: "line" }, h("b", null, one.table), h("code", { class: "mark" }, one.shown), act,
        one.like === "here" ? h("span", { class: "good" }, "✓ ", say("setup.here")) : null),
      h("p", { class: "quiet" }, one.addresses.map((host) => `${host}:${one.feed}`).join(", ")),
      one.like === "other_key" ? h("p", { class: "todo" }, say("setup.like-other-key")) : null,
      one.like === "moved" ? h("p", { class: "todo" }, say("setup.like-moved")) : null,
      twice ? h("p", { class: "todo" }, say("setup.twice", { table: one.table })) : null,
    ];
  }

  async take(one) {
    const said = await askValues({
      title: say("setup.take-title", { table: one.table }),
      text: say("setup.take-text"),
      more: [
        h("pre", null, "dealtable keys fingerprint state/keys/table.key"),
        h("p", { class: "huge-mark" }, h("code", null, one.shown)),
      ],
      fields: [this.group(), this.area()],
      yes: say("setup.same"),
      danger: one.like === "other_key",
      check: wrongGroup,
    });
    if (said) await this.give({ handle: one.handle, said: said.said.trim(), area: said.area.trim() });
  }

  async byHand() {
    const said = await askValues({
      title: say("setup.by-hand"),
      text: say("setup.by-hand-text"),
      fields: [
        { name: "id", kind: "text", label: say("setup.id"), required: true, max: 24 },
        { name: "host", kind: "text", label: say("setup.host"), hint: say("setup.host-hint"), required: true, max: 100 },
        { name: "feed", kind: "int", label: say("setup.feed"), value: 5556, min: 1, max: 65535, required: true },
        { name: "commands", kind: "int", label: say("setup.commands"), value: 5557, min: 1, max: 65535, required: true },
        { name: "certificate", kind: "make", label: "table.key", required: true, make: keyFile },
        this.group(),
        this.area(),
      ],
      yes: say("setup.same"),
      check: wrongGroup,
    });
    if (said) await this.give(said);
  }

  group() {
    return { name: "said", kind: "text", label: say("setup.last-group"), hint: say("setup.last-group-hint"), required: true, max: 4 };
  }

  area() {
    return { name: "area", kind: "text", label: say("setup.which-area"), hint: this.areas.length > 1 ? this.areas.join(" ") : undefined, value: this.areas.at(-1) ?? "A", required: true, max: 24 };
  }

  async give(wish) {
    try {
      const set = await post("/api/setup/tables", wish);
      this.top.tell(say("setup.taken", { table: set.id, area: set.area }));
    } catch (error) {
      this.top.tell(error.message, "bad");
    }
    this.look();
  }
}

function wrongGroup({ said }) {
  return GROUP.test(said.trim().toLowerCase()) ? null : say("setup.last-group-wrong");
}

/** Make the field for the table's public file, chosen or pasted. */
function keyFile() {
  const pasted = h("textarea", { id: "table-key", rows: 5, spellcheck: "false", placeholder: "metadata …" });
  const chosen = h("input", { type: "file", class: "voice", "aria-label": say("setup.key-file") });
  chosen.addEventListener("change", async () => {
    if (chosen.files[0]) pasted.value = await chosen.files[0].text();
  });
  const node = h("div", { class: "field" }, h("label", { for: "table-key" }, say("setup.key-file")), h("label", { class: "button chosen" }, say("setup.choose-file"), chosen), pasted, h("small", null, say("setup.key-file-hint")));
  return { node, read: () => ({ value: pasted.value.trim() }), focus: () => pasted.focus() };
}
