// An invitation: its code, which works once, and a new PIN. In the address the code is after #,
// which browsers do not send. It is removed from the address as soon as it is read.

import { post } from "./api.mjs";
import { byId, text } from "./dom.mjs";
import { storeValue } from "./storage.mjs";
import { addTexts, language, say, setLanguage } from "./words.mjs";
import words from "../words/invited.mjs";

const PIN = /^\d{4,12}$/;

addTexts(words);
document.title = say("invited.title");

const code = byId("code");
const pin = byId("pin");
const again = byId("again");
const wrong = byId("wrong");
const other = byId("language");

text(other, language === "zh" ? "English" : "中文");
other.addEventListener("click", () => {
  if (code.value) location.hash = code.value; // The page is loaded again.
  setLanguage(language === "zh" ? "en" : "zh");
});
if (location.hash.length > 1) {
  code.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
(code.value ? pin : code).focus();

/** Return the wrong field and the error text, or null if all is right. */
function fault() {
  if (!code.value.trim()) return [code, say("invited.no-code")];
  if (!PIN.test(pin.value)) return [pin, say("invited.pin-hint")];
  if (pin.value !== again.value) return [again, say("invited.differ")];
  return null;
}

byId("invited").addEventListener("submit", async (event) => {
  event.preventDefault();
  const found = fault();
  text(wrong, found ? found[1] : "");
  if (found) {
    found[0].focus();
    return;
  }
  const accept = byId("accept");
  accept.disabled = true;
  try {
    const me = await post("/api/accept", { code: code.value.trim(), pin: pin.value });
    storeValue("name", me.name);
    storeValue("language", me.language);
    location.assign(me.role === "table" ? `/display/${encodeURIComponent(me.table)}` : "/");
  } catch (error) {
    text(wrong, error.message);
    code.focus();
  } finally {
    accept.disabled = false;
  }
});
