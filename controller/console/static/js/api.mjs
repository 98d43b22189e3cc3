// Questions to the console.

import { both, say } from "./words.mjs";

/** The console said no, or nothing was heard of it: `status` 0. Its message is for people. */
export class Refused extends Error {
  constructor(status, error) {
    super(both(error));
    this.status = status;
    this.en = error.en;
    this.zh = error.zh;
  }
}

/** Ask for a page's data. Throws Refused. */
export function get(path) {
  return asked("GET", path);
}

/** Say something to the console. Throws Refused. */
export function post(path, body = {}) {
  return asked("POST", path, JSON.stringify(body), "application/json");
}

/** Send a text as it is, a CSV file say. Throws Refused. */
export function postText(path, body, type = "text/csv; charset=utf-8") {
  return asked("POST", path, body, type);
}

/** Take something away. Throws Refused. */
export function del(path, body = {}) {
  return asked("DELETE", path, JSON.stringify(body), "application/json");
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

async function asked(method, path, body, type) {
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
  throw new Refused(answer.status, value?.error ?? { en: unsaid, zh: unsaid });
}
