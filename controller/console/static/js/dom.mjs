// Elements of the page: they are made once, and then only differences are changed.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: `h("button", {class: "go", onclick: press, disabled: true}, "text", …)`.
 *
 * `props`: functions with names on… are listeners. `data` and `style` are objects ({"--x": 1}; the
 * style is set by script, because the page allows no style attributes). All others are attributes:
 * true sets an empty one; false, null and undefined set none. Children: nodes, texts, numbers and
 * lists; null and false are left out.
 */
export function h(tag, props, ...children) {
  return withProps(document.createElement(tag), props, children);
}

/** Make an SVG element, with the same arguments as `h`. */
export function s(tag, props, ...children) {
  return withProps(document.createElementNS(SVG, tag), props, children);
}

function withProps(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") for (const [key, one] of Object.entries(value)) data(node, key, one);
    else if (name === "style") {
      for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
    } else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false).map(toNode));
  return node;
}

function toNode(one) {
  return one instanceof Node ? one : String(one);
}

/** Set an element's text if it differs. */
export function text(node, value) {
  const wanted = String(value ?? "");
  if (node.textContent !== wanted) node.textContent = wanted;
}

/** Set a data-… value if it differs; null and false remove it. */
export function data(node, name, value) {
  if (value === null || value === undefined || value === false) delete node.dataset[name];
  else if (node.dataset[name] !== String(value)) node.dataset[name] = value;
}

/** Set an attribute if it differs; null and false remove it, true sets it to "". */
export function attr(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value === true ? "" : value)) {
    node.setAttribute(name, value === true ? "" : value);
  }
}

/** Show or hide an element. */
export function shown(node, whether) {
  if (node.hidden === Boolean(whether)) node.hidden = !whether;
}

/** Replace the children of an element. A child that stays is not removed from the page: it keeps
 * the focus, and a touch on it continues. */
export function fill(node, ...children) {
  const wanted = children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false).map(toNode);
  const stay = new Set(wanted);
  for (const one of [...node.childNodes]) if (!stay.has(one)) one.remove();
  let next = node.firstChild;
  for (const one of wanted) {
    if (one === next) next = next.nextSibling;
    else node.insertBefore(one instanceof Node ? one : document.createTextNode(one), next);
  }
  return node;
}

/** Bring the children of `parent` into the order of `keys`. Only children out of order are moved.
 *
 * `nodes`: the caller's Map from key to element. `make(key)` makes a missing element. Elements
 * without a key are removed. The focused element is never removed from the page.
 */
export function keyed(parent, nodes, keys, make) {
  const wanted = new Set(keys);
  for (const [key, node] of nodes) {
    if (!wanted.has(key)) {
      node.remove();
      nodes.delete(key);
    }
  }
  let next = parent.firstElementChild;
  for (const key of keys) {
    let node = nodes.get(key);
    if (!node) {
      node = make(key);
      nodes.set(key, node);
    }
    if (node === next) next = next.nextElementSibling;
    else if (next && next.nextElementSibling === node) {
      // `next` belongs further down: moving it is cheaper than moving all elements after it.
      const down = next;
      next = node.nextElementSibling;
      if (down.contains(document.activeElement)) parent.insertBefore(node, down);
      else parent.append(down);
    } else moveNode(parent, node, next);
  }
}

function moveNode(parent, node, before) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  parent.insertBefore(node, before);
  if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

/** The delay of a drawing on a hidden page. */
const HIDDEN_MS = 250;

/** A longer touch is not a tap, and the page is drawn during it. */
const TAP_MS = 1000;
/** Drawings to run when the touch on a button ends; null: there is no touch. */
let postponed = null;

document.addEventListener("pointerdown", (event) => {
  if (!event.target.closest?.("button, a, summary, label")) return;
  const waiting = postponed ?? new Set();
  postponed = waiting;
  const left = () => {
    if (postponed !== waiting) return;
    postponed = null;
    for (const one of waiting) one();
  };
  setTimeout(left, TAP_MS);
  // The click event comes after pointerup and belongs to the tap.
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => setTimeout(left, 0), { once: true, capture: true });
  }
}, { capture: true });

/** Return a function that requests `draw`. `draw` runs at most once a frame.
 *
 * On a hidden page, `draw` runs a little later. During a touch on a button, it runs after the touch:
 * if the button moved before the finger is lifted, the tap would be lost or reach another button.
 */
export function framed(draw) {
  let asked = false;
  const run = () => {
    if (!asked) return;
    if (postponed) {
      postponed.add(run);
      return;
    }
    asked = false;
    draw();
  };
  // On a hidden page a requested frame never comes.
  document.addEventListener("visibilitychange", () => document.hidden && asked && setTimeout(run, HIDDEN_MS));
  return () => {
    if (asked) return;
    asked = true;
    if (document.hidden) setTimeout(run, HIDDEN_MS);
    else requestAnimationFrame(run);
  };
}

/** Return the element with an id. Throws if the page has none. */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`no element #${id}`);
  return node;
}
