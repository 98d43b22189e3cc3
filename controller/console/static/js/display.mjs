// The small screen at a table. It lies flat between the four players, and each reads one side.
//
// ?bottom=E: the seat at the lower edge of the screen; South by default. It shows only the part
// `display`. The console puts no cards of a hand into that part.

import { byId, data, shown, text } from "./dom.mjs";
import { DisplayMiddle } from "./display/middle.mjs";
import { SeatSide } from "./display/seat.mjs";
import { SEATS } from "./seats.mjs";
import { listen } from "./stream.mjs";
import { timeOfDay } from "./time.mjs";
import { addTexts, say, setLanguage, textOf } from "./words.mjs";
import words from "../words/display.mjs";

addTexts(words);

const SIDES = ["top", "left", "bottom", "right"]; // Seen from above, in the order of play.
const LIVE = "live";

const bottomSeat = new URLSearchParams(location.search).get("bottom");
const table = decodeURIComponent(location.pathname.split("/").pop());
const rotation = SEATS.indexOf(SEATS.includes(bottomSeat) ? bottomSeat : "S") - SIDES.indexOf("bottom");
const sideOf = (seat) => SIDES[(SEATS.indexOf(seat) - rotation + 4) % 4];

const middle = new DisplayMiddle(byId("middle"), sideOf);
const seats = new Map(
  SEATS.map((seat) => [seat, new SeatSide(seat, sideOf(seat), { table, middle })]),
);
byId("seats").append(...Array.from(seats.values(), (one) => one.node));
middle.onChoice = () => drawSeats();
document.title = say("display.title", { table });
text(byId("title"), document.title);

let view; // null: the console has no data of this table any more; undefined: nothing was received yet
let isPlayersScreen = false; // True on the players' own screen, false when a referee looks at it.
let silentSince = null; // The time of the last message, while the console does not answer.
let connecting = false; // True while the page reconnects.

function draw() {
  if (view === undefined) return;
  const live = view?.standing === LIVE && !silentSince;
  shown(byId("middle"), view);
  shown(byId("seats"), view);
  if (view) middle.draw(view, table, isPlayersScreen);
  drawSeats();
  data(document.body, "stale", live ? null : "yes");
  shown(byId("stale"), !live);
  text(byId("stale"), live ? "" : stale());
  text(byId("voice"), view === null ? "" : `${textOf(view, "phase")}. ${textOf(view, "next")}`);
}

function drawSeats() {
  if (!view) return;
  const live = view.standing === LIVE && !silentSince;
  for (const one of view.seats) seats.get(one.seat).draw(one, view, live, isPlayersScreen);
}

function stale() {
  if (silentSince) return say(connecting ? "display.connecting" : "display.away", { time: timeOfDay(silentSince.getTime(), true) });
  if (view === null) return say("display.gone");
  if (!view.heard) return say("display.unheard");
  return say(`display.standing.${view.standing}`, { time: timeOfDay(view.since_ms, true) });
}

listen(
  `/stream/display/${encodeURIComponent(table)}`,
  (changed) => {
    if (changed.me?.language) setLanguage(changed.me.language);
    if (changed.me) isPlayersScreen = changed.me.role === "table";
    if ("display" in changed) view = changed.display;
    draw();
  },
  (since, again) => {
    silentSince = since;
    connecting = again;
    draw();
  },
);
