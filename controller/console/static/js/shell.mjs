// The header of every page: links, the person, and whether the page shows the present state.

import { post } from "./api.mjs";
import { setConnected } from "./connected.mjs";
import { data, h, shown, text } from "./dom.mjs";
import { clearWindowValues, storedValue, storeValue } from "./storage.mjs";
import { setHelpText, showHelp } from "./keys.mjs";
import * as sound from "./sound.mjs";
import { staleText } from "./stream.mjs";
import { language, say, setLanguage } from "./words.mjs";

/** The time for which a live region is empty before it gets its words. */
const VOICE_MS = 50;
const REFEREES = ["observer", "referee", "chief", "technician"];
const PLACES = [
  ["/", () => say("go.hall"), REFEREES],
  ["/chief", () => say("go.chief"), ["chief"]],
  ["/wall", () => say("go.wall"), REFEREES],
  ["/history", () => say("go.history"), REFEREES],
  ["/draw", () => say("go.draw"), ["referee", "chief"]],
  ["/setup", () => say("go.setup"), ["technician", "chief"]],
];

/** Put the header into <header id="shell"> of the page.
 *
 * `title`: the page's heading, beside the links; `help`: the purpose of the page. Returns
 * {me(part), stale(since, connecting), say(words, {urgent}), tell(words, kind)}:
 * `me` receives the stream's part `me`; `stale` is for `listen`; `say` announces words to screen
 * readers (a live region); `tell` shows a line for a while, kind "ok" or "bad".
 */
export function makeShell({ title, help = "", sounds = false } = {}) {
  setHelpText(help);
  const head = document.getElementById("shell");
  const links = PLACES.map(([path, words, roles]) => [
    h("a", { href: path, "aria-current": path === location.pathname ? "page" : null, hidden: true }, words()),
    roles,
  ]);
  const name = h("span", { class: "me" });
  const banner = h("p", { class: "stale", role: "alert", hidden: true });
  const polite = h("p", { class: "voice", role: "status" });
  const urgent = h("p", { class: "voice", role: "alert" });
  const lines = h("div", { class: "lines", role: "status" });
  head.replaceChildren(
    h("a", { class: "skip", href: "#main" }, say("go.skip")),
    h("h1", null, title),
    h("nav", { "aria-label": say("go.places") }, links.map(([link]) => link)),
    h("div", { class: "mine" }, name, sounds ? soundSwitch() : null, themeSwitch(),
      small(language === "zh" ? "English" : "中文", say("shell.language"), changeLanguage),
      small("?", say("help.title"), showHelp), small(say("shell.out"), say("shell.out"), logOut)),
  );
  head.after(banner, polite, urgent, lines);

  async function changeLanguage() {
    const wanted = language === "zh" ? "en" : "zh";
    await post("/api/me", { language: wanted }).catch(() => null);
    setLanguage(wanted);
  }

  return {
    me: (who) => {
      if (!who) return;
      text(name, `${who.name} · ${say(`role.${who.role}`)}`);
      for (const [link, roles] of links) link.hidden = !roles.includes(who.role);
      document.body.dataset.role = who.role;
      storeValue("name", who.name);
      if (who.language) setLanguage(who.language);
    },
    stale: (since, connecting) => {
      setConnected(!since);
      data(document.body, "stale", since ? "yes" : null);
      shown(banner, since);
      text(banner, since ? staleText(since, connecting) : "");
    },
    say: (words, { urgent: now = false } = {}) => announce(now ? urgent : polite, words),
    tell: (words, kind = "ok") => {
      const line = h("p", { class: kind }, words);
      lines.append(line);
      setTimeout(() => line.remove(), kind === "bad" ? 12000 : 5000);
    },
  };
}

/** Put words into a live region, so that they are spoken even if they repeat the last ones. */
function announce(region, words) {
  text(region, "");
  setTimeout(() => text(region, words), VOICE_MS);
}

function small(words, label, act) {
  return h("button", { type: "button", class: "plain small", "aria-label": label, title: label, onclick: act }, words);
}

function themeSwitch() {
  const signs = { light: "☀", dark: "☾", auto: "◐" };
  const next = { auto: "light", light: "dark", dark: "auto" };
  let theme = storedValue("theme") ?? "auto";
  const button = small(signs[theme], "", () => {
    theme = next[theme];
    storeValue("theme", theme === "auto" ? null : theme);
    data(document.documentElement, "theme", theme === "auto" ? null : theme);
    draw();
  });
  const draw = () => {
    text(button, signs[theme]);
    button.setAttribute("aria-label", say(`theme.${theme}`));
    button.title = say(`theme.${theme}`);
  };
  draw();
  return button;
}

function soundSwitch() {
  const button = small("", "", () => {
    sound.switchSound(!sound.isSoundOn());
    draw();
  });
  const draw = () => {
    const [words, short] = !sound.isSoundOn()
      ? [say("sound.off"), say("sound.short-off")]
      : sound.maySound()
        ? [say("sound.on"), say("sound.short-on")]
        : [say("sound.asleep"), say("sound.short-asleep")];
    text(button, short);
    button.setAttribute("aria-label", words);
    button.title = words;
    button.setAttribute("aria-pressed", String(sound.isSoundOn()));
  };
  for (const press of ["pointerup", "keyup"]) addEventListener(press, () => sound.isSoundOn() && draw());
  draw();
  return button;
}

async function logOut() {
  await post("/api/logout").catch(() => null);
  clearWindowValues();
  location.assign("/login");
}
