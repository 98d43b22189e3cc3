// What a person has opened or folded keeps its state in this window when the page is loaded again,
// for example in another language.

const PREFIX = "dealtable.fold ";

/** Restore and store the state of a <details>. `name` is its name on this page. */
export function rememberFold(name, node) {
  const key = `${PREFIX}${location.pathname} ${name}`;
  try {
    const before = sessionStorage.getItem(key);
    if (before !== null) node.open = before === "open";
  } catch {
    return node; // the browser does not allow storage
  }
  node.addEventListener("toggle", () => {
    try {
      sessionStorage.setItem(key, node.open ? "open" : "folded");
    } catch {
      // The storage is full. The page works without it.
    }
  });
  return node;
}
