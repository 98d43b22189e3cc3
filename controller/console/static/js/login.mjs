// Logging in: a name and a PIN.

import { post } from "./api.mjs";
import { byId, text } from "./dom.mjs";
import { storedValue, storeValue } from "./storage.mjs";
import { addTexts, language, say, setLanguage } from "./words.mjs";
import words from "../words/login.mjs";

addTexts(words);
document.title = say("login.title");

const name = byId("name");
const pin = byId("pin");
const enter = byId("enter");
const other = byId("language");

name.value = storedValue("name", "");
(name.value ? pin : name).focus();
text(other, language === "zh" ? "English" : "中文");
other.addEventListener("click", () => {
  const wanted = language === "zh" ? "en" : "zh";
  storeValue("chosen", wanted);
  setLanguage(wanted);
});
/** True if no language is stored in this browser. Then the person read this page in `language`. */
const fresh = storedValue("language") === null;

/** Return the language that was chosen here, or null: then the account's language is used. */
function chosen() {
  return storedValue("chosen") ?? (fresh ? language : null);
}

/** Use the chosen language on every page, and store it in the account. */
async function speak(me) {
  const wanted = chosen() ?? me.language;
  if (wanted && wanted !== me.language) await post("/api/me", { language: wanted }).catch(() => null);
  if (wanted) storeValue("language", wanted);
  storeValue("chosen", null);
}

/** Return the next page: the one before the login, if it is in this console. */
function goal(me) {
  if (me.role === "table") return `/display/${encodeURIComponent(me.table ?? "")}`;
  const asked = new URLSearchParams(location.search).get("next") ?? "/";
  if (!URL.canParse(asked, location.origin)) return "/";
  const next = new URL(asked, location.origin);
  const own = next.origin === location.origin && next.pathname !== "/login";
  return own ? next.href : "/"; // The whole address: a path may begin with //, which is another host.
}

byId("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const wrong = byId("wrong");
  if (!name.value.trim() || !pin.value) {
    text(wrong, say("login.both"));
    (name.value.trim() ? pin : name).focus();
    return;
  }
  enter.disabled = true;
  text(wrong, "");
  try {
    const me = await post("/api/login", { name: name.value.trim(), pin: pin.value });
    storeValue("name", me.name);
    await speak(me);
    location.assign(goal(me));
  } catch (error) {
    text(wrong, error.message);
    pin.value = "";
    pin.focus();
  } finally {
    enter.disabled = false;
  }
});
