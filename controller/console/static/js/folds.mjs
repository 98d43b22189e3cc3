// What a person has opened or folded stays so in this window when its page is loaded anew, in
// another language, say.

const PREFIX = "dealtable.fold ";

/** Let a <details> stand as it stood in this window; `name`: of it, on this page alone. */
export function fold(name, node) {
  const key = `${PREFIX}${location.pathname} ${name}`;
  try {
    const before = sessionStorage.getItem(key);
    if (before !== null) node.open = before === "open";
  } catch {
    return node; // a browser that may not keep anything
  }
  node.addEventListener("toggle", () => {
    try {
      sessionStorage.setItem(key, node.open ? "open" : "folded");
    } catch {
      // it is full: the page works all the same
    }
  });
  return node;
}
