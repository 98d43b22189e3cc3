// Requests to the console.

import { isConnected } from "./connected.mjs";
import { markRequestStarted } from "./settled.mjs";
import { say, textOf } from "./words.mjs";

/** The status of an answer when the console's database is away. The console then sent nothing. */
const DATABASE_AWAY = 503;

/** The status of an answer to too many requests. The request was not executed; repeat it soon. */
const TOO_FAST = 429;
const TRIES = 4;
/** A longer wait has another reason than too many requests, for example a wrong PIN. */
const SHORT_S = 2;

/** The console refused a request, or did not answer (`status` 0). The message is for people. */
export class Refused extends Error {
  constructor(status, error, waitS = Infinity) {
    super(textOf(error));
    this.status = status;
    this.waitS = waitS;
    this.en = error.en;
    this.zh = error.zh;
  }
}

/** Request a page's data. Throws Refused. */
export function get(path) {
  return request("GET", path);
}

/** Send a value to the console. Throws Refused. */
export function post(path, body = {}) {
  return request("POST", path, JSON.stringify(body), "application/json");
}

/** Make a function that sends one command. Each call sends the same command again.
 *
 * It returns {answer}; {unsent: words} if the console certainly sent nothing; or {unknown: words}
 * if the table may have executed it. The command's id makes sure that the table executes it only
 * once. After one unknown result only an answer is certain: a later refusal proves nothing about the
 * first try.
 */
export function makeSender(path, body) {
  let tried = false;
  return async () => {
    // The page shows an old state: a command that acts now, or after a reconnection, would surprise.
    if (!tried && !isConnected()) return { unsent: say("api.away") };
    try {
      const answer = await post(path, body);
      if (answer && !answer.unknown) return { answer };
      tried = true;
      return { unknown: "" };
    } catch (error) {
      const ours = (error.status >= 400 && error.status < 500) || error.status === DATABASE_AWAY;
      if (ours && !tried) return { unsent: error.message };
      tried = true;
      return { unknown: error.message };
    }
  };
}

/** Send a text without change, for example a CSV file. Throws Refused. */
export function postText(path, body, type = "text/csv; charset=utf-8") {
  return request("POST", path, body, type);
}

/** Delete something. Throws Refused. */
export function del(path, body = {}) {
  return request("DELETE", path, JSON.stringify(body), "application/json");
}

/** Make the id of a command: 128 random bits. crypto.randomUUID does not exist without TLS. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Go to the login page. After the login the browser returns to this page. */
export function openLoginPage() {
  const here = location.pathname + location.search + location.hash;
  location.assign(`/login?next=${encodeURIComponent(here)}`);
}

async function request(...asked) {
  const over = markRequestStarted();
  try {
    for (let left = TRIES - 1; ; left -= 1) {
      try {
        return await readAnswer(...asked);
      } catch (error) {
        if (!left || error.status !== TOO_FAST || error.waitS > SHORT_S) throw error;
        await new Promise((done) => setTimeout(done, error.waitS * 1000));
      }
    }
  } finally {
    over();
  }
}

async function readAnswer(method, path, body, type) {
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
  if (answer.status === 401 && location.pathname !== "/login") openLoginPage();
  const unsaid = say("api.failed", { status: answer.status });
  const wait = answer.headers.get("Retry-After");
  throw new Refused(answer.status, value?.error ?? { en: unsaid, zh: unsaid }, wait === null ? undefined : Number(wait));
}
