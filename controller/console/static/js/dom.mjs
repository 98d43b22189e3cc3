// Elements by hand: made once, then changed where they differ.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: `h("button", {class: "go", onclick: press, disabled: true}, "text", …)`.
 *
 * `props`: on… functions are listeners; `data` and `style` are objects ({"--x": 1}; set by script,
 * as the page allows no style attributes); true sets an attribute, false, null and undefined do
 * not; all others are attributes. Children: nodes, texts, numbers, lists; null and false are none.
 */
export function h(tag, props, ...children) {
  return dressed(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props, ...children) {
  return dressed(document.createElementNS(SVG, tag), props, children);
}

function dressed(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") for (const [key, one] of Object.entries(value)) data(node, key, one);
    else if (name === "style") {
      for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
    } else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false).map(leaf));
  return node;
}

function leaf(one) {
  return one instanceof Node ? one : String(one);
}

/** Set an element's text where it is another one. */
export function text(node, value) {
  const wanted = String(value ?? "");
  if (node.textContent !== wanted) node.textContent = wanted;
}

/** Set a data-… value where it is another one; null and false take it away. */
export function data(node, name, value) {
  if (value === null || value === undefined || value === false) delete node.dataset[name];
  else if (node.dataset[name] !== String(value)) node.dataset[name] = value;
}

/** Set an attribute where it is another one; null and false take it away, true sets it empty. */
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

/** Put children in place of those that are there. An element that stays is not taken out of the page:
 * it keeps its focus, and a finger that is on it. */
export function fill(node, ...children) {
  const wanted = children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false).map(leaf);
  const stay = new Set(wanted);
  for (const one of [...node.childNodes]) if (!stay.has(one)) one.remove();
  let next = node.firstChild;
  for (const one of wanted) {
    if (one === next) next = next.nextSibling;
    else node.insertBefore(one instanceof Node ? one : document.createTextNode(one), next);
  }
  return node;
}

/** Bring the children of `parent` into the order of `keys`, moving only those that moved.
 *
 * `nodes`: a Map from key to element, kept by the caller; `make(key)` makes one that is missing.
 * Elements whose key is gone are taken away. The focused element is never moved out of the page.
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
      // One has left its place further up: let it go down rather than move all behind it.
      const down = next;
      next = node.nextElementSibling;
      if (down.contains(document.activeElement)) parent.insertBefore(node, down);
      else parent.append(down);
    } else move(parent, node, next);
  }
}

function move(parent, node, before) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  parent.insertBefore(node, before);
  if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

/** How much later a page is drawn for that nobody sees. */
const HIDDEN_MS = 250;

/** A finger that stays longer than this is no tap, and the page is drawn beneath it. */
const TAP_MS = 1000;
/** What is drawn as soon as the finger that is on a button has left it; null: no finger is there. */
let beneath = null;

document.addEventListener("pointerdown", (event) => {
  if (!event.target.closest?.("button, a, summary, label")) return;
  const waiting = beneath ?? new Set();
  beneath = waiting;
  const left = () => {
    if (beneath !== waiting) return;
    beneath = null;
    for (const one of waiting) one();
  };
  setTimeout(left, TAP_MS);
  // The click comes behind the pointer's end, and belongs to the tap.
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => setTimeout(left, 0), { once: true, capture: true });
  }
}, { capture: true });

/** Return a function that asks for `draw` once a frame, however often it is called.
 *
 * A page that is not seen is not drawn for; it is a little later then. So is one with a finger on a
 * button: if the button moved before the finger is lifted, the tap would be lost, or be another's.
 */
export function framed(draw) {
  let asked = false;
  const run = () => {
    if (!asked) return;
    if (beneath) {
      beneath.add(run);
      return;
    }
    asked = false;
    draw();
  };
  // The frame that was asked for never comes to a page that is hidden before it.
  document.addEventListener("visibilitychange", () => document.hidden && asked && setTimeout(run, HIDDEN_MS));
  return () => {
    if (asked) return;
    asked = true;
    if (document.hidden) setTimeout(run, HIDDEN_MS);
    else requestAnimationFrame(run);
  };
}

/** The element with an id; a page without it is a mistake. */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`no element #${id}`);
  return node;
}
