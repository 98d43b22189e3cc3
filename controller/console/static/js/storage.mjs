// Settings that this browser stores for a person: nothing important, and nothing of a deal.

const PREFIX = "dealtable.";

/** Return the value stored under a name, or `otherwise`. */
export function storedValue(name, otherwise = null) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Store a value under a name; null deletes it. Without storage nothing happens. */
export function storeValue(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // A private window stores nothing. The page works without it.
  }
}

/** Return the value that this person stored for this page in this window, or null. */
export function windowValue(name) {
  try {
    return JSON.parse(sessionStorage.getItem(windowKey(name)));
  } catch {
    return null;
  }
}

/** Store a value for this page and person until log-out or the window closes; null deletes it. */
export function storeWindowValue(name, value) {
  try {
    if (value === null) sessionStorage.removeItem(windowKey(name));
    else sessionStorage.setItem(windowKey(name), JSON.stringify(value));
  } catch {
    // The storage is full or not allowed. The page works without it.
  }
}

/** Delete all values of this window, because its person logs out. */
export function clearWindowValues() {
  try {
    sessionStorage.clear();
  } catch {
    // A window without storage has no values.
  }
}

function windowKey(name) {
  return `${PREFIX}${ownKey(name)} ${location.pathname}`;
}

/** Return the storage name of a setting of this browser's present person. */
export function ownKey(name) {
  return `${name}.${storedValue("name", "")}`;
}
