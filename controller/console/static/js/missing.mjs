// The page for an unknown address: it shows the address and a way back.

import { byId, text } from "./dom.mjs";
import { addTexts, say } from "./words.mjs";
import words from "../words/missing.mjs";

addTexts(words);

const [, place, id] = location.pathname.split("/");
const table = ["table", "display"].includes(place) && id;
text(byId("missing"), table ? say("missing.table", { table: decodeURIComponent(id) }) : say("missing.page"));
document.title = byId("missing").textContent;
