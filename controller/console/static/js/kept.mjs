// What this browser remembers of its person: nothing that matters, and nothing of a deal.

const PREFIX = "dealtable.";

/** Return what was kept under a name, or `otherwise`. */
export function kept(name, otherwise = null) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Keep a value under a name; null forgets it. A browser that may not keep anything does not. */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Private windows keep nothing: the page works all the same.
  }
}

/** Return what this person kept under a name for this page in this window, where it is loaded anew; else null. */
export function keptHere(name) {
  try {
    return JSON.parse(sessionStorage.getItem(here(name)));
  } catch {
    return null;
  }
}

/** Keep a value for this page and person until they log out or its window closes; null forgets it. */
export function keepHere(name, value) {
  try {
    if (value === null) sessionStorage.removeItem(here(name));
    else sessionStorage.setItem(here(name), JSON.stringify(value));
  } catch {
    // It is full, or may not be used: the page works all the same.
  }
}

/** Forget all that is kept in this window: its person goes, and another one may come. */
export function forgetHere() {
  try {
    sessionStorage.clear();
  } catch {
    // A window that may not keep anything has nothing to forget.
  }
}

function here(name) {
  return `${PREFIX}${own(name)} ${location.pathname}`;
}

/** The name under which something is kept for this browser's present person alone. */
export function own(name) {
  return `${name}.${kept("name", "")}`;
}
