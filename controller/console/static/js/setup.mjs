// First set-up: find tables, compare fingerprints, add the tables, admit the console's keys, invite.

import { get } from "./api.mjs";
import { byId, text } from "./dom.mjs";
import { DiscoveredTables } from "./setup/discovered.mjs";
import { OwnKeys } from "./setup/own-keys.mjs";
import { People } from "./setup/people.mjs";
import { TableList } from "./setup/tables.mjs";
import { makeShell } from "./shell.mjs";
import { now, setNow } from "./time.mjs";
import { addTexts, say } from "./words.mjs";
import words from "../words/setup.mjs";

const AGAIN_MS = 2000;
const STALE_MS = 4000;

addTexts(words);
document.title = say("setup.title");
const top = makeShell({ title: say("setup.title"), help: say("setup.help") });
const tables = new TableList(byId("tables"), top, look);
const found = new DiscoveredTables(byId("found"), top, look);
const keys = new OwnKeys(byId("keys"), byId("commands"));
const people = new People(byId("people"), byId("invite"), top);
byId("by-hand").addEventListener("click", () => found.byHand());

let heard = now();

/** Request all data and show them. */
async function look() {
  try {
    const [set, network] = await Promise.all([get("/api/setup"), get("/api/setup/found")]);
    setNow(set.now_ms);
    heard = now();
    top.stale(null);
    tables.draw(set.tables);
    found.draw(network, set);
    keys.draw(set.keys);
    people.tables = set.tables.map((one) => one.id);
    byId("none").hidden = set.tables.length > 0;
    byId("nothing").hidden = network.found.length > 0 || Boolean(network.why_not);
    byId("deaf").hidden = !network.why_not;
    text(byId("deaf"), network.why_not ? say("setup.deaf", { why: network.why_not }) : "");
  } catch {
    if (now() - heard > STALE_MS) top.stale(new Date(heard));
  }
}

async function again() {
  if (!document.hidden) await look();
  setTimeout(again, AGAIN_MS);
}

const me = await get("/api/me");
top.me(me);
people.chief = me.role === "chief";
people.look();
again();
