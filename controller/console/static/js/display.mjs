// The small screen at a table: it lies between the four, and everybody reads his own side.
//
// ?bottom=E: who sits at the lower edge of the screen (else South). It shows what the part
// `display` has and nothing else: the console puts nothing of a hand into that.

import { byId, data, shown, text } from "./dom.mjs";
import { Middle } from "./display/middle.mjs";
import { SeatSide } from "./display/seat.mjs";
import { SEATS } from "./seats.mjs";
import { listen } from "./stream.mjs";
import { ofDay } from "./time.mjs";
import { both, say, setLanguage, teach } from "./words.mjs";
import words from "../words/display.mjs";

teach(words);

const SIDES = ["top", "left", "bottom", "right"]; // Seen from above, as the seats play.
const LIVE = "live";

const asked = new URLSearchParams(location.search).get("bottom");
const table = decodeURIComponent(location.pathname.split("/").pop());
const turned = SEATS.indexOf(SEATS.includes(asked) ? asked : "S") - SIDES.indexOf("bottom");
const sideOf = (seat) => SIDES[(SEATS.indexOf(seat) - turned + 4) % 4];

const middle = new Middle(byId("middle"), sideOf);
const seats = new Map(
  SEATS.map((seat) => [seat, new SeatSide(seat, sideOf(seat), { table, middle })]),
);
byId("seats").append(...Array.from(seats.values(), (one) => one.node));
middle.onChoice = () => drawSeats();
document.title = say("display.title", { table });
text(byId("title"), document.title);

let view; // null: the console has nothing of this table any more; undefined: it has not said yet
let plays = false; // Whether this is the players' own screen, and no referee's look at it.
let away = null; // Since when nothing was heard of the console.
let connecting = false; // Whether its line is on its way again.

function draw() {
  if (view === undefined) return;
  const live = view?.standing === LIVE && !away;
  shown(byId("middle"), view);
  shown(byId("seats"), view);
  if (view) middle.draw(view, table, plays);
  drawSeats();
  data(document.body, "stale", live ? null : "yes");
  shown(byId("stale"), !live);
  text(byId("stale"), live ? "" : stale());
  text(byId("voice"), view === null ? "" : `${both(view, "phase")}. ${both(view, "next")}`);
}

function drawSeats() {
  if (!view) return;
  const live = view.standing === LIVE && !away;
  for (const one of view.seats) seats.get(one.seat).draw(one, view, live, plays);
}

function stale() {
  if (away) return say(connecting ? "display.connecting" : "display.away", { time: ofDay(away.getTime(), true) });
  if (view === null) return say("display.gone");
  if (!view.heard) return say("display.unheard");
  return say(`display.standing.${view.standing}`, { time: ofDay(view.since_ms, true) });
}

listen(
  `/stream/display/${encodeURIComponent(table)}`,
  (changed) => {
    if (changed.me?.language) setLanguage(changed.me.language);
    if (changed.me) plays = changed.me.role === "table";
    if ("display" in changed) view = changed.display;
    draw();
  },
  (since, again) => {
    away = since;
    connecting = again;
    draw();
  },
);
