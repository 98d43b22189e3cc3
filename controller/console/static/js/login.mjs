// Logging in: a name and a PIN.

import { post } from "./api.mjs";
import { byId, text } from "./dom.mjs";
import { keep, kept } from "./kept.mjs";
import { language, say, setLanguage, teach } from "./words.mjs";
import words from "../words/login.mjs";

teach(words);
document.title = say("login.title");

const name = byId("name");
const pin = byId("pin");
const enter = byId("enter");
const other = byId("language");

name.value = kept("name", "");
(name.value ? pin : name).focus();
text(other, language === "zh" ? "English" : "中文");
other.addEventListener("click", () => {
  const wanted = language === "zh" ? "en" : "zh";
  keep("chosen", wanted);
  setLanguage(wanted);
});
/** Whether this browser was never told its language: then whoever logs in has read this page in it. */
const fresh = kept("language") === null;

/** The language that he has chosen here; null: none, and he has his own, whose browser this was. */
function chosen() {
  return kept("chosen") ?? (fresh ? language : null);
}

/** Let the language that was chosen here hold on every page, and from now on. */
async function speak(me) {
  const wanted = chosen() ?? me.language;
  if (wanted && wanted !== me.language) await post("/api/me", { language: wanted }).catch(() => null);
  if (wanted) keep("language", wanted);
  keep("chosen", null);
}

/** Where to go: back to where he came from, in this house alone. */
function goal(me) {
  if (me.role === "table") return `/display/${encodeURIComponent(me.table ?? "")}`;
  const asked = new URLSearchParams(location.search).get("next") ?? "/";
  if (!URL.canParse(asked, location.origin)) return "/";
  const next = new URL(asked, location.origin);
  const own = next.origin === location.origin && next.pathname !== "/login";
  return own ? next.href : "/"; // Whole: a path alone may begin with //, which is another host.
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
    keep("name", me.name);
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
