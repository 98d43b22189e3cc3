// Fields of a question, by kind: the kinds of /api/commands, and some more.
//
// A field: {name, kind, label, hint?, required?, value?, choices?, min?, max?}.
//   text | long     one line, or several lines     → string
//   pin             digits, not shown              → string
//   int             a number, min..max             → number
//   span            a duration, 5:30, 1:05:00 or 5 (minutes) → seconds; min..max, value in seconds
//   bool            a switch                       → true/false
//   choice          one of choices [[value, words]…] as large buttons; many choices: as a list
//   seat | side     one of four seats, one of two sides → "N", "NS"; choices: the allowed ones
//   counts          a number for each seat         → {N, W, S, E}; `value` likewise
//   order           seats in the order of taps     → ["N", "E"]; min..max of them
//   card | cards    one card, several              → "♠A", ["♠A", "BJ"]
//   object          JSON, if no other kind fits    → the value
//   make            any other field: `make()` → {node, read() → {value, fault}, focus()}

import { cardText, RANKS, SUITS } from "./cards.mjs";
import { h } from "./dom.mjs";
import { SEATS, SIDES } from "./seats.mjs";
import { durationText } from "./time.mjs";
import { say } from "./words.mjs";

const MOST_BUTTONS = 6;
/** 1:05:00, 5:30 or 5. With hours, the minutes have two digits. */
const SPAN = /^(?:(\d{1,2}):(?=[0-5]\d:))?(\d{1,4})(?::([0-5]\d))?$/;

let ids = 0;

/** Make a field: {name, node, read() → {value, fault}, focus()}. */
export function field(asked) {
  const made = (KINDS[asked.kind] ?? KINDS.text)(asked);
  const missing = (value) =>
    value === undefined || value === null || value === "" || (Array.isArray(value) && !value.length);
  const read = () => {
    const found = made.read();
    if (found.fault) return found;
    if (!missing(found.value)) return found;
    return asked.required ? { fault: say("field.missing", { name: asked.label }) } : {};
  };
  return { name: asked.name, node: made.node, read, focus: made.focus };
}

function labelled(asked, control) {
  ids += 1;
  control.id = `field-${ids}`;
  const hint = asked.hint ? h("small", { id: `hint-${ids}` }, asked.hint) : null;
  if (hint) control.setAttribute("aria-describedby", hint.id);
  return h("p", { class: "field" }, h("label", { for: control.id }, asked.label), control, hint);
}

function grouped(asked, ...inside) {
  const hint = asked.hint ? h("small", null, asked.hint) : null;
  return h("fieldset", { class: "field" }, h("legend", null, asked.label), inside, hint);
}

function input(props) {
  return (asked) => {
    const control = h("input", {
      ...props, value: asked.value ?? "", maxlength: asked.max, autocomplete: "off",
    });
    return {
      node: labelled(asked, control),
      read: () => ({ value: control.value.trim() }),
      focus: () => control.focus(),
    };
  };
}

function long(asked) {
  const control = h("textarea", { rows: 3, maxlength: asked.max, value: asked.value ?? "" });
  return {
    node: labelled(asked, control),
    read: () => ({ value: control.value.trim() }),
    focus: () => control.focus(),
  };
}

function whole(text, asked) {
  if (text.trim() === "") return {};
  const value = Number(text);
  const out = value < (asked.min ?? -Infinity) || value > (asked.max ?? Infinity);
  if (Number.isInteger(value) && !out) return { value };
  return { fault: say("field.number", { name: asked.label, min: asked.min ?? "…", max: asked.max ?? "…" }) };
}

function int(asked) {
  const control = h("input", {
    type: "number", inputmode: "numeric", min: asked.min, max: asked.max, step: 1,
    value: asked.value ?? "",
  });
  return {
    node: labelled(asked, control),
    read: () => whole(control.value, asked),
    focus: () => control.select(),
  };
}

function length(asked) {
  const control = h("input", {
    type: "text", autocomplete: "off", value: asked.value === undefined ? "" : durationText(asked.value * 1000),
  });
  return {
    node: labelled({ ...asked, hint: [say("field.span-hint"), asked.hint].filter(Boolean).join(" ") }, control),
    read: () => {
      const written = control.value.trim();
      if (!written) return {};
      const [, hours = 0, minutes, seconds = 0] = written.normalize("NFKC").match(SPAN) ?? [];
      const value = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
      const within = value >= (asked.min ?? 0) && value <= (asked.max ?? Infinity);
      return within ? { value } : { fault: say("field.span", { name: asked.label }) };
    },
    focus: () => control.select(),
  };
}

function bool(asked) {
  ids += 1;
  const control = h("input", { type: "checkbox", id: `field-${ids}` });
  control.checked = Boolean(asked.value);
  return {
    node: h("p", { class: "field switch" }, control, h("label", { for: control.id }, asked.label),
      asked.hint ? h("small", null, asked.hint) : null),
    read: () => ({ value: control.checked }),
    focus: () => control.focus(),
  };
}

function choice(asked) {
  return asked.choices.length > MOST_BUTTONS ? listed(asked) : buttons(asked);
}

function listed(asked) {
  const control = h("select", null,
    asked.required && asked.value !== undefined ? null : h("option", { value: "" }, "–"),
    asked.choices.map(([, words], at) => h("option", { value: at }, words)));
  const first = asked.choices.findIndex(([value]) => value === asked.value);
  control.value = first < 0 ? "" : first;
  return {
    node: labelled(asked, control),
    read: () => (control.value === "" ? {} : { value: asked.choices[Number(control.value)][0] }),
    focus: () => control.focus(),
  };
}

function buttons(asked) {
  ids += 1;
  const group = `field-${ids}`;
  const inputs = asked.choices.map(([value], at) => {
    const one = h("input", { type: "radio", name: group, id: `${group}-${at}`, value: at });
    one.checked = value === asked.value;
    return one;
  });
  return {
    node: grouped(asked, h("div", { class: "choices" }, inputs.map((one, at) => [
      one, h("label", { for: one.id }, asked.choices[at][1]),
    ]))),
    read: () => {
      const at = inputs.findIndex((one) => one.checked);
      return at < 0 ? {} : { value: asked.choices[at][0] };
    },
    focus: () => (inputs.find((one) => one.checked) ?? inputs[0])?.focus(),
  };
}

function seat(asked) {
  return buttons({ ...asked, choices: (asked.choices ?? SEATS).map((one) => [one, say(`seat.${one}`)]) });
}

function side(asked) {
  return buttons({ ...asked, choices: (asked.choices ?? SIDES).map((one) => [one, say(`side.${one}`)]) });
}

function counts(asked) {
  ids += 1;
  const inputs = SEATS.map((one) => h("input", {
    type: "number", inputmode: "numeric", min: asked.min ?? 0, max: asked.max ?? 108, step: 1,
    id: `field-${ids}-${one}`, value: asked.value?.[one] ?? "",
  }));
  const limits = { label: asked.label, min: asked.min ?? 0, max: asked.max ?? 108 };
  return {
    node: grouped(asked, h("div", { class: "counts" }, SEATS.map((one, at) =>
      h("p", null, h("label", { for: inputs[at].id }, say(`seat.${one}`)), inputs[at])))),
    read: () => {
      const read = inputs.map((one) => whole(one.value, limits));
      const fault = read.find((one) => one.fault);
      if (fault) return fault;
      if (read.every((one) => one.value === undefined)) return {};
      if (read.some((one) => one.value === undefined)) {
        return { fault: say("field.missing", { name: asked.label }) };
      }
      return { value: Object.fromEntries(SEATS.map((one, at) => [one, read[at].value])) };
    },
    focus: () => inputs[0].select(),
  };
}

function order(asked) {
  const taken = [...(asked.value ?? [])];
  const most = asked.max ?? 4;
  const nodes = (asked.choices ?? SEATS).map((one) => {
    const place = h("b");
    const node = h("button", { type: "button", class: "pick" }, place, say(`seat.${one}`));
    node.addEventListener("click", () => {
      const at = taken.indexOf(one);
      if (at >= 0) taken.splice(at);
      else if (taken.length < most) taken.push(one);
      draw();
    });
    return [one, node, place];
  });
  const draw = () => {
    for (const [one, node, place] of nodes) {
      const at = taken.indexOf(one);
      node.setAttribute("aria-pressed", String(at >= 0));
      place.textContent = at < 0 ? "" : String(at + 1);
    }
  };
  draw();
  return {
    node: grouped(asked, h("div", { class: "choices" }, nodes.map(([, node]) => node))),
    read: () =>
      taken.length && taken.length < (asked.min ?? 0)
        ? { fault: say("field.more", { name: asked.label, min: asked.min }) }
        : { value: [...taken] },
    focus: () => nodes[0][1].focus(),
  };
}

function picker(many) {
  return (asked) => {
    const taken = [].concat(asked.value ?? []);
    const most = many ? (asked.max ?? 27) : 1;
    const line = h("output", { class: "cards" });
    const draw = () => {
      line.replaceChildren(...taken.map((card, at) => h("button", {
        type: "button", class: "card", data: { suit: card[0] },
        "aria-label": say("field.take-away", { card: cardText(card) }),
        onclick: () => {
          taken.splice(at, 1);
          draw();
        },
      }, cardText(card))));
    };
    const one = (card, words) => h("button", {
      type: "button", class: "card", data: { suit: card[0] }, "aria-label": cardText(card),
      onclick: () => {
        if (!many) taken.length = 0;
        if (taken.length < most) taken.push(card);
        draw();
      },
    }, words);
    draw();
    const first = one("BJ", say("card.BJ"));
    return {
      node: grouped(asked, line, h("div", { class: "deck" },
        h("div", null, first, one("SJ", say("card.SJ"))),
        SUITS.map((suit) => h("div", null, RANKS.map((rank) => one(suit + rank, suit + rank)))))),
      read: () => ({ value: many ? [...taken] : taken[0] }),
      focus: () => first.focus(),
    };
  };
}

function object(asked) {
  const made = long({ ...asked, value: asked.value === undefined ? "" : JSON.stringify(asked.value) });
  return {
    ...made,
    read: () => {
      const { value } = made.read();
      if (!value) return {};
      try {
        return { value: JSON.parse(value) };
      } catch {
        return { fault: say("field.json", { name: asked.label }) };
      }
    },
  };
}

const KINDS = {
  text: input({ type: "text" }),
  pin: input({ type: "password", inputmode: "numeric" }),
  long,
  int,
  span: length,
  bool,
  choice,
  seat,
  side,
  counts,
  order,
  card: picker(false),
  cards: picker(true),
  object,
  make: (asked) => asked.make(),
};
