// Questions to the console.

import { connected } from "./connected.mjs";
import { asking } from "./settled.mjs";
import { both, say } from "./words.mjs";

/** The console's answer where its database takes nothing down: what is not written is not sent. */
const UNWRITTEN = 503;

/** The console's answer to more than a person presses: surely not given, and to be tried again soon. */
const TOO_FAST = 429;
const TRIES = 4;
/** A longer wait than this is not for having pressed too fast, but for a wrong PIN, say. */
const SHORT_S = 2;

/** The console said no, or nothing was heard of it: `status` 0. Its message is for people. */
export class Refused extends Error {
  constructor(status, error, waitS = Infinity) {
    super(both(error));
    this.status = status;
    this.waitS = waitS;
    this.en = error.en;
    this.zh = error.zh;
  }
}

/** Ask for a page's data. Throws Refused. */
export function get(path) {
  return request("GET", path);
}

/** Say something to the console. Throws Refused. */
export function post(path, body = {}) {
  return request("POST", path, JSON.stringify(body), "application/json");
}

/** Make an order that the console is to give: a function that sends it, the same each time.
 *
 * It returns {answer}; {unsent: words}: the console itself says that it sent nothing; or {unknown:
 * words}: it may have acted, and by its id it acts once, however often it is sent. What once may
 * have acted only an answer tells of: that a later try was refused says nothing of the first.
 */
export function ordering(path, body) {
  let tried = false;
  return async () => {
    // Whoever is shown the past would be surprised by what acts now, or when the line is back.
    if (!tried && !connected()) return { unsent: say("api.away") };
    try {
      const answer = await post(path, body);
      if (answer && !answer.unknown) return { answer };
      tried = true;
      return { unknown: "" };
    } catch (error) {
      const ours = (error.status >= 400 && error.status < 500) || error.status === UNWRITTEN;
      if (ours && !tried) return { unsent: error.message };
      tried = true;
      return { unknown: error.message };
    }
  };
}

/** Send a text as it is, a CSV file say. Throws Refused. */
export function postText(path, body, type = "text/csv; charset=utf-8") {
  return request("POST", path, body, type);
}

/** Take something away. Throws Refused. */
export function del(path, body = {}) {
  return request("DELETE", path, JSON.stringify(body), "application/json");
}

/** An order's id: 128 random bits. (No crypto.randomUUID: it is not there without TLS.) */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Go to the login page, and come back here from there. */
export function toLogin() {
  const here = location.pathname + location.search + location.hash;
  location.assign(`/login?next=${encodeURIComponent(here)}`);
}

async function request(...asked) {
  const over = asking();
  try {
    for (let left = TRIES - 1; ; left -= 1) {
      try {
        return await answered(...asked);
      } catch (error) {
        if (!left || error.status !== TOO_FAST || error.waitS > SHORT_S) throw error;
        await new Promise((done) => setTimeout(done, error.waitS * 1000));
      }
    }
  } finally {
    over();
  }
}

async function answered(method, path, body, type) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-Dealtable"] = "1";
  if (type) headers["Content-Type"] = type;
  let answer;
  try {
    answer = await fetch(path, { method, headers, body, credentials: "same-origin" });
  } catch {
    throw new Refused(0, { en: say("api.away"), zh: say("api.away") });
  }
  const value = await answer.json().catch(() => null);
  if (answer.ok) return value;
  if (answer.status === 401 && location.pathname !== "/login") toLogin();
  const unsaid = say("api.failed", { status: answer.status });
  const wait = answer.headers.get("Retry-After");
  throw new Refused(answer.status, value?.error ?? { en: unsaid, zh: unsaid }, wait === null ? undefined : Number(wait));
}
