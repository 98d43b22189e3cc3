// What the rows of one attempt show: its steps and their order, where each card went (PROOF.md §5),
// which of its reasons follow from that (§7), and how its record is written (§8).

import { unhex } from "./hashes.mjs";

export const SEATS = ["N", "W", "S", "E"], TRAY = "tray";
/** The reasons that cards prove; an attempt that was given up for any other is a void. */
export const MISDEALS = ["COUNT_SHORT", "COUNT_OVER", "HOPPER_NOT_EMPTY", "PATH_NOT_CLEAR", "POCKET_NOT_EMPTY",
  "WRONG_POCKET", "NOT_LANDED", "MISSING_CARD", "THIRD_COPY", "FOREIGN_BACK", "FACE_UP", "UNREADABLE", "TRAY_FULL",
  "DOUBLE_FEED", "PULSE_COUNT", "EVENT_LOST", "SENSOR_STUCK"];
/** Every other: those that no record shows, but BOARD_REFUSED, and those of boards that nobody can work with. */
const OTHERS = ["BOARD_REFUSED", "JAM", "STALL", "LID_OPENED", "ESTOP_PRESSED", "LINE_LOST", "BOARD_RESET", "POWER", "RESTARTED",
  "STOPPED", "ORDERED", "COUNT_WRONG", "NOT_NEEDED", "PORT_MISSING", "PORT_BUSY", "BOARD_SILENT", "WRONG_BOARD", "BOARDS_SWAPPED",
  "WRONG_KIND", "WRONG_PROTOCOL", "WRONG_FIRMWARE", "WRONG_SETTINGS", "BACKEND_MISMATCH", "PANEL_LOST",
  "ENGINE_LOST", "SUPPLY_LOW", "EDGES_LOST", "DRIVE_LOST"];
export const STEPS = ["committed", "cut", "begun", "shuffled", "dealt", "held", "verdict", "released", "withdrawn", "recalled",
  "revealed", "sealed_to_chief", "record"];
const LADDER = ["committed", "cut", "begun", "shuffled", "dealt", "held", "verdict"];
const OUTLETS = [...SEATS, TRAY], BACKS = { A: 0, B: 1 };
const [AT_READER, DOUBLE, GATE, LANDED, STRAY, JAM, HOPPER_EMPTY, SHUFFLED, READ] = [1, 2, 3, 4, 5, 7, 8, 9, 32];
const REFUSED = { // reasons that come of an event which is refused, and so none of the counts
  [LANDED]: ["WRONG_POCKET", "TRAY_FULL", "EVENT_LOST", "JAM", "DOUBLE_FEED", "UNREADABLE", "FACE_UP", "FOREIGN_BACK"],
  [AT_READER]: ["COUNT_OVER", "EVENT_LOST"],
};
const base64 = (text) => Array.from(atob(text), (c) => c.charCodeAt(0));

// The steps, and when each is said.

/** Tell whether an attempt gives no hands, or none any more, from this step on. */
export const isEnd = ({ kind, data }) => kind !== "verdict" || data.outcome !== "ok";

/** Return the steps of an attempt that must have been, and are not here; `over`: others followed it. */
export function lacking(steps, over) {
  const { verdict, revealed, record, recalled, withdrawn, sealed_to_chief: sealed } = steps, has = (...kinds) => kinds.some((kind) => kind in steps);
  const right = verdict?.outcome === "ok" || has("held", "released", "withdrawn", "recalled");
  const far = right ? "verdict" : has("dealt") ? "dealt" : has("shuffled") || verdict?.fed > 0 ? "shuffled" : has("begun") ? "begun" : has("cut") || Number.isInteger(revealed?.cut) ? "cut" : "committed";
  const givenUp = verdict && (verdict.outcome !== "ok" || has("withdrawn", "recalled"));
  const due = LADDER.slice(0, LADDER.indexOf(far) + 1);
  if (far !== "verdict" && (over || has("revealed", "record", "sealed_to_chief"))) due.push("verdict");
  if (verdict?.outcome === "ok" && has("revealed", "record", "recalled") && !withdrawn && !sealed) due.push("released");
  if (!sealed && (over || record)) due.push("revealed");
  if (!sealed && givenUp && (over || revealed)) due.push("record");
  return due.filter((kind) => !(kind in steps));
}

/** Yield what is wrong with the order of an attempt's rows, and with what its steps must say. */
export function* order(rows, orders) {
  const steps = rows.filter((row) => STEPS.includes(row.kind)), at = Object.fromEntries([...steps].reverse().map((row) => [row.kind, row]));
  for (const [i, { kind, deal }] of steps.entries()) {
    if (i && STEPS.indexOf(kind) <= STEPS.indexOf(steps[i - 1].kind)) yield `${kind} stands behind ${steps[i - 1].kind}`;
    if (deal !== steps[0].deal) yield `${kind} is of deal ${deal}`;
  }
  const clock = [at.cut, at.verdict, at.released, at.withdrawn].filter((row) => row).map(({ data }) => data.at_ms);
  if (clock.some((at_ms, i) => at_ms < clock[i - 1])) yield "its clock went back";
  const { committed, cut, begun, shuffled, held, verdict, withdrawn, recalled, record, sealed_to_chief: sealed } = at;
  if (cut?.data.cut === null && !cut.data.reason) yield "it was dealt uncut, and nothing says why";
  let ordered = 0;
  for (const { n, deal, attempt, data: { cmd, args, of, result } } of orders.filter(({ data }) => data.result)) {
    const own = attempt === committed.attempt, uncut = cmd === "start_deal" && (own ? result.cut === null : result.attempt === committed.attempt && "uncut" in result);
    const cuts = cmd === "cut" && own ? [result.cut, ...(args ? [args.n] : [])] : uncut ? [null] : [];
    if (cuts.length && (ordered++ || n < committed.n || n > cut?.n + 1)) yield "its cut was ordered before the commitment, or behind the cut, or twice";
    if (cut && cmd === "cut" && cuts.some((each) => each !== cut.data.cut)) yield "its cut is not the one that was ordered";
    if (own && of && ["cut", "release", "void"].includes(cmd) && String(of) !== String([deal, attempt])) yield `${cmd} was ordered for another attempt`;
  }
  if (shuffled?.data.passes < committed.data.passes) yield "it was shuffled less often than was promised";
  for (const { kind, data: { reasons } } of [verdict, withdrawn, recalled].filter((row) => row)) {
    if (!reasons.length && kind !== "verdict") yield `it was ${kind} without a reason`;
    for (const reason of reasons) if (![...MISDEALS, ...OTHERS].includes(reason)) yield `${reason} is no reason`;
  }
  if (sealed && (record || sealed.boot === committed.boot)) yield "it was sealed, and its key was there";
  if (record && !(Array.isArray(record.data.events) && unhex(record.data.key))) yield "its record has no events, or no key";
  if (record && (held || verdict?.data.outcome === "ok") && !(record.data.nonce && record.data.hands)) yield "its record does not open the hands that were bound";
}

// §8 The record.

/** Yield the boards' events of a record in their order. Throws where its numbers do not fit them. */
function* told(groups) {
  for (const { boots, b, looks } of groups) {
    const packed = base64(b), seen = base64(looks ?? ""), count = { dealer: 0, reader: 0 };
    while (packed.length) {
      const event = packed.splice(0, 5), [kind, , , index, place] = event, code = kind & 127, board = kind & 128 ? "reader" : "dealer";
      if (place === undefined || (code === READ && looks && seen.length < 4)) throw Error("a record is cut off");
      const name = `${board} ${boots[board][0]} ${boots[board][1] + count[board]++} ${event}`;
      yield { name, code, index, place, look: code === READ && looks ? seen.splice(0, 4) : undefined };
    }
    const said = (board) => (boots[board] ? boots[board][2] - boots[board][1] + 1 : 0);
    if (seen.length || said("dealer") !== count.dealer || said("reader") !== count.reader)
      throw Error("a record's numbers do not fit its events");
  }
}

/** Return the byte of a face in words: ♠A, ♥10, SJ, BJ; in a rulebook ♥2 is H2. */
export const faceOf = (words) => {
  const joker = ["SJ", "BJ"].indexOf(words), rank = [..."23456789", "10", ..."JQKA"].indexOf(words?.slice(1));
  return joker >= 0 ? 52 + joker : Math.max("♠♥♣♦".indexOf(words?.[0]), "SHCD".indexOf(words?.[0])) * 13 + rank;
};

// §5 Which card has which place.

/** Return the course of a set of `size` cards through some events. */
function course(events, size) {
  const cards = new Map(), aside = [], doubled = new Set(), glimpses = new Map();
  const seen = { cards, strays: 0, followers: 0, jams: 0, stuck: 0, blind: 0, odd: 0, ranOut: false };
  const looks = (index) => glimpses.get(index) ?? glimpses.set(index, []).get(index);
  let early = false, refeeding = false, shuffled = false;
  const all = (test) => [...cards.values()].filter(test), fed = () => all((c) => !c.refed).length;
  seen.landed = (outlet) => all((c) => c.landed === outlet).length;
  const inTray = () => seen.landed(TRAY) + Math.min(all((c) => c.doubled).length, Math.max(0, size - fed())) - all((c) => c.refed).length;
  const counts = () => [fed(), cards.size - fed(), ...SEATS.map(seen.landed), inTray()];
  Object.assign(seen, { passed: [counts()], codes: [] });
  for (const { code, index, place, look } of events) {
    const card = cards.get(index), outlet = OUTLETS[place] ?? "nowhere", so = seen.passed.at(-1);
    const moves = [AT_READER, GATE, LANDED].includes(code) || (code === JAM && place === 3);
    const full = so[6] === 0 && so[2] + so[3] + so[4] + so[5] >= size;
    if (code === SHUFFLED) shuffled = true;
    else if (moves && (!shuffled || full)) seen.odd++; // out of turn
    if (code === AT_READER && !card) {
      refeeding ||= fed() === size;
      if (index !== cards.size + 1) seen.odd++;
      cards.set(index, { index, place: refeeding ? aside.pop() : index, refed: refeeding, doubled: doubled.has(index), looks: looks(index) });
      early = false;
    } else if (code === GATE && card && !card.gate) Object.assign(card, { gate: outlet, before: card.looks.length });
    else if (code === LANDED && card?.gate && !card.landed) {
      card.landed = outlet;
      if (outlet === TRAY && card.place) aside.push(card.place);
    } else if (code === HOPPER_EMPTY && place === 0) {
      if (!refeeding) for (let free = fed() + 1; free <= size; free++) aside.unshift(free);
      refeeding = seen.ranOut = true;
    } else if (code === DOUBLE) doubled.add(index);
    else if ([AT_READER, GATE, LANDED].includes(code)) seen.odd++;
    else if (code === READ) {
      if (look) looks(index).push(look);
      if (!card && index === cards.size + 1 && !early) early = true;
      else if (!card) seen.blind++;
    } else if (code === STRAY) {
      const gated = all((c) => c.gate);
      seen.strays++;
      if (gated.length && gated.every((c) => c.landed) && gated.at(-1).landed === outlet) seen.followers++;
    } else if (code === JAM) (seen.jams++, (seen.stuck += place === 3));
    seen.codes.push(code);
    seen.passed.push(code === AT_READER || code === LANDED ? counts() : so);
  }
  seen.ranOut ||= fed() >= size;
  const byPlace = new Map(all((c) => c.place && SEATS.includes(c.landed)).map((c) => [c.place, c]));
  return Object.assign(seen, { all, counts: counts(), placed: [...byPlace.values()] });
}

// §7 Why there are no hands.

/** Return the flaw of one look, null for one that does: a sure face on the set's back, face down. */
const flaw = ([face, back, faceUp, sure], due) =>
  faceUp ? "FACE_UP" : face > 53 ? "UNREADABLE" : back !== due ? "FOREIGN_BACK" : sure < 128 ? "UNREADABLE" : null;

/** Return a record as evidence: the course, what it was to be, and what follows from both. */
function evidence(seen, sequence, copies, back, settled, forgotten, withdrawn) {
  const good = (looks) => looks.slice(0, 3).find((look) => !flaw(look, BACKS[back]));
  const inTime = (card) => (card.gate ? card.looks.slice(0, card.before) : card.looks).slice(0, 3);
  const flawOf = (card) => (good(inTime(card)) ? null : inTime(card).length ? flaw(inTime(card).at(-1), BACKS[back]) : "UNREADABLE");
  const rounds = (card) => seen.all((c) => c.refed && c.place === card.place).length;
  const last = Math.max(0, ...seen.placed.map((c) => c.index));
  const final = (card) => rounds(card) >= 2 || (seen.ranOut && card.index > last && seen.placed.length < sequence.length);
  const hand = sequence.length / 4, unfed = seen.cards.size === 0, ended = seen.ranOut && seen.all((c) => !c.landed).length === 0;
  const faces = seen.placed.map((c) => good(c.looks)?.[0]), have = (face) => faces.filter((f) => f === face).length;
  const astray = seen.all((c) => (c.landed && c.landed !== c.gate) || (c.gate && c.gate !== TRAY && c.gate !== sequence[c.place - 1]));
  const away = Math.max(0, seen.all((c) => c.gate === TRAY && !c.doubled && !flawOf(c)).length - seen.jams);
  const flawed = (name) => () => seen.all((c) => flawOf(c) === name && final(c)).length > 0;
  const shows = {
    COUNT_SHORT: () => ended && SEATS.some((seat) => seen.landed(seat) < hand),
    COUNT_OVER: () => SEATS.some((seat) => seen.landed(seat) > hand) || seen.all((c) => !c.place).length > 0 ||
      [...seen.cards.keys()].some((index, i) => index !== i + 1) || (ended && settled.tray_empty === false),
    WRONG_POCKET: () => seen.strays > seen.followers || astray.length > 0,
    NOT_LANDED: () => seen.stuck > 0,
    TRAY_FULL: () => Math.max(...seen.passed.map((counts) => counts[6])) - away > 6,
    DOUBLE_FEED: () => seen.followers > 0 || seen.all((c) => c.doubled && rounds(c) >= 2).length > 0,
    UNREADABLE: flawed("UNREADABLE"), FACE_UP: flawed("FACE_UP"), FOREIGN_BACK: flawed("FOREIGN_BACK"),
    MISSING_CARD: () => ended && seen.counts[6] === 0 && copies.some((due, face) => have(face) < due),
    THIRD_COPY: () => copies.some((due, face) => have(face) > due),
    PULSE_COUNT: () => seen.blind > 0 || ![undefined, seen.cards.size].includes(settled.reader_pulses),
    EVENT_LOST: () => seen.odd > 0 || seen.all((c) => c.gate && !inTime(c).length).length > 0 ||
      ("board_fed" in settled && String([settled.board_fed, settled.board_landed]) !== String([seen.cards.size, seen.counts.slice(2, 6)])),
    SENSOR_STUCK: () => settled.pockets_seen?.includes(false) || settled.lift_down === false,
    BOARD_REFUSED: () => settled.board_locked === false,
    HOPPER_NOT_EMPTY: () => ended && settled.hopper_empty === false,
    PATH_NOT_CLEAR: () => (unfed || ended) && settled.path_empty === false,
    POCKET_NOT_EMPTY: () => unfed && settled.pockets_empty === false,
  };
  const looked = { COUNT_OVER: ended, PULSE_COUNT: true, HOPPER_NOT_EMPTY: ended, PATH_NOT_CLEAR: unfed || ended, POCKET_NOT_EMPTY: unfed };
  const asked = { EVENT_LOST: "board_fed", SENSOR_STUCK: "pockets_seen", BOARD_REFUSED: "board_locked" };
  const silent = (reason) => reason in asked ? withdrawn || !(asked[reason] in settled) : forgotten && !Object.keys(settled).length && looked[reason] === true;
  const says = (reason) => (!Object.hasOwn(shows, reason) ? "not shown" : shows[reason]() ? "follows" : silent(reason) ? "not shown" : "disproved");
  return { astray, good, says };
}

/** Yield what does not hold of a verdict; tell in `said` what the opened record says to its reasons.
 * `copies`: how many of each face the set has; `sequence`: a pocket a place, null while nobody knows it.
 */
export function* judge(rows, copies, sequence, said) {
  const steps = Object.fromEntries([...rows].reverse().map((row) => [row.kind, row]));
  const data = Object.fromEntries(Object.entries(steps).map(([kind, row]) => [kind, row.data]));
  const { committed, dealt, held, shuffled, verdict, released, withdrawn, recalled, revealed, record } = data;
  if (!verdict) return;
  const { outcome, fed, refed, landed, reasons } = verdict, right = outcome === "ok", hand = committed.deck.cards / 4;
  const due = reasons.length === 0 ? "ok" : reasons.some((reason) => MISDEALS.includes(reason)) ? "misdeal" : "void";
  if (outcome !== due) yield `${reasons} does not make it ${outcome}`;
  if (!right && (held || released || withdrawn || recalled)) yield "these hands were not right";
  if (dealt && (right || fed || refed) && (dealt.fed !== fed || dealt.refed !== refed)) yield "dealt and verdict count otherwise";
  if (right && sequence && (SEATS.some((seat) => landed[seat] !== hand) || landed.tray !== 0)) yield "these hands were not right";
  said.verdicts = (withdrawn ?? recalled ?? verdict).reasons.map((reason) => ({ reason, says: "not shown" }));
  const ways = record?.events ?? revealed?.course, same = (a, b) => String(a) === String(b), moves = ({ code }) => [AT_READER, GATE, LANDED].includes(code);
  if (!ways && released && revealed && !recalled) yield "it is revealed without the course of its cards";
  if (!ways) return;
  const events = [...told(ways)], shown = revealed?.course ? [...told(revealed.course)] : [];
  if (shown.some(({ name }, i) => name !== events[i]?.name) || (shown.length && events.slice(shown.length).some(moves))) yield "record and reveal tell other ways";
  const shuffle = events.find(({ code }) => code === SHUFFLED);
  if (shuffle && (shuffle.index < committed.passes || (shuffled && shuffle.index !== shuffled.passes))) yield "the board did not shuffle as often as is said";
  const seen = course(events, committed.deck.cards), counted = record?.counted;
  if (counted !== undefined && !seen.passed[counted]) yield "its record has not so many events";
  const counts = [fed, refed, ...SEATS.map((seat) => landed[seat]), landed.tray];
  const last = seen.codes[counted - 1], atCount = "hopper_empty" in (record?.settled ?? {}) || reasons.includes("COUNT_SHORT");
  const refused = !atCount && reasons.some((reason) => REFUSED[last]?.includes(reason)) ? 1 : 0;
  const moments = right ? [seen.counts] : counted === undefined ? seen.passed : [seen.passed[counted], seen.passed[counted - refused]];
  if (!moments.some((moment) => same(counts, moment))) yield "its counts are others";
  if (!sequence) return;
  const { boot } = steps.verdict, forgotten = steps.record?.boot !== boot;
  const { astray, good, says } = evidence(seen, sequence, copies, committed.back, record?.settled ?? {}, forgotten, Boolean(withdrawn));
  const has = (reason) => reasons.includes(reason), strange = has("EVENT_LOST") ? 0 : seen.odd - (has("COUNT_OVER") ? 1 : 0);
  for (const card of astray.slice(has("WRONG_POCKET") && !seen.strays ? 1 : 0)) yield `card ${card.index} crossed the gate to ${card.gate}, for ${sequence[card.place - 1]}`;
  if (strange > 0) yield "no card can have gone this way";
  if (right && seen.placed.length < sequence.length) yield "places have no card that was seen to land";
  const landings = course(events.slice(0, events.map(({ code }) => code === LANDED).lastIndexOf(true)), sequence.length);
  if (right && (landings.strays || landings.stuck)) yield "a card fell or stuck where none was due, and it is called right";
  if (!record?.events) return;
  for (const each of said.verdicts) each.says = says(each.reason);
  for (const { reason, says } of said.verdicts) if (says === "disproved") yield `${reason} does not follow from the opened record`;
  const unread = seen.all((card) => SEATS.includes(card.gate) && (card.doubled || !good(card.looks)));
  if (unread.length && (right || boot === steps.committed.boot)) yield "a card went out that nobody had read";
  const opened = record.hands && unhex(record.hands, null);
  const other = (card) => good(card.looks) && opened[card.place - 1] !== good(card.looks)[0];
  if (held && opened && seen.placed.some(other)) yield "the opened hands are not what the reader saw";
}
