// Checks a table's public events as PROOF.md beside it says, in any browser: `await check(events)`,
// or `await check(events, rulebooks)`, each of them { rules, page } (rulebook.mjs).
// It shares no code with the program that wrote them. hashes.mjs has SHA-256 and SHAKE-256; rows.mjs what
// binds the events to each other; record.mjs an attempt's steps, the ways of its cards (PROOF.md §5),
// its reasons (§7) and its record (§8). What all of them leave out stands at the end of PROOF.md.
import { L, sha256, shake256, unhex } from "./hashes.mjs";
import { SEATS, STEPS, faceOf, judge, lacking, order } from "./record.mjs";
import { between, chain, sorted } from "./rows.mjs";
import { byHash, ruled } from "./rulebook.mjs";

/** Return every attempt with its proof and findings, the findings of the events one by one and of
 * attempts beside each other, and the numbers of attempts whose commitment is not among the events.
 */
export async function check(events, rulebooks = []) {
  const rows = sorted(events);
  const findings = rows.flatMap((row, i) => found(`entry ${row.n}`, chain(row, rows[i - 1])));
  const whole = rows.filter(({ data }) => data?.constructor === Object), steps = whole.filter(({ kind, attempt }) => STEPS.includes(kind) && attempt !== null);
  const told = new Set(), begun = steps.filter(({ kind, attempt }) => kind === "committed" && !told.has(attempt) && told.add(attempt));
  const books = byHash(rulebooks), orders = whole.filter(({ kind }) => kind === "command"), own = begun.map((first) => whole.filter(({ attempt }) => attempt === first.attempt));
  const later = (all) => begun.filter(({ n }) => n > Math.max(...all.filter(({ kind }) => STEPS.includes(kind)).map((row) => row.n))).length;
  const attempts = begun.map((first, i) => proved(first, own[i], later(own[i]) > 1, orders, books));
  const numbers = [...new Set(steps.map(({ attempt }) => attempt))].sort((a, b) => a - b), gap = (low, high) => Math.min(high - low, 1000) - 1;
  const skipped = numbers.flatMap((high, i) => (i ? Array.from({ length: gap(numbers[i - 1], high) }, (_, k) => numbers[i - 1] + 1 + k) : []));
  return { attempts, findings: [...findings, ...found("events", between(whole, own))], missing: [...skipped, ...numbers.filter((number) => !told.has(number))].sort((a, b) => a - b) };
}

function proved({ attempt, deal, n, data: { commitment } }, rows, over, orders, books) {
  const steps = Object.fromEntries([...rows].reverse().map((row) => [row.kind, row.data])), { cut, verdict, revealed } = steps;
  const said = { attempt, deal, outcome: verdict?.outcome ?? null, cut: (cut ?? revealed)?.cut ?? null, commitment };
  Object.assign(said, { sequence: null, grade: null, verdicts: [], missing: lacking(steps, over) });
  const findings = [...found(`entry ${n}`, order(rows, orders)), ...found(`entry ${n}`, proof(steps, said, rows, books))];
  return Object.assign(said, { grade: said.missing.length ? null : said.grade, findings });
}

function* proof(steps, said, rows, books) {
  const { committed, cut, held, verdict, released, revealed, record } = steps;
  const { table_key, match, profile_hash, set, commitment, deck: { packs, jokers, cards } } = committed;
  const copies = Array(52).fill(packs).concat(jokers ? [packs, packs] : [0, 0]);
  if (![1, 2, 3, 4].includes(packs) || cards !== copies.reduce((a, b) => a + b)) throw Error("no set has so many cards");
  for (const step of [cut, revealed]) if (step && step.cut !== null && !(Number.isInteger(step.cut) && 0 < step.cut && step.cut < cards)) throw Error("its cut is none of its cards");
  if (!revealed || !verdict) return yield* judge(rows, copies, null, said);
  const seed = unhex(revealed.seed), context = [table_key, match, said.deal, said.attempt, unhex(profile_hash), set];
  if (sha256([...L("dealtable/commit/1"), ...context.flatMap(L), ...L(seed)]) !== commitment) yield "its seed does not give its commitment"; // §1
  if (cut && cut.cut !== revealed.cut) yield "the players' cut did not go into it";
  const draw = drawing(shake256([...L("dealtable/deal/1"), ...L(unhex(commitment)), ...L(seed), ...L(revealed.cut ?? "")])); // §2
  const sequence = SEATS.flatMap((seat) => Array(cards / 4).fill(seat)), faces = record?.hands && unhex(record.hands, null);
  for (let i = cards - 1; i > 0; i--) { const j = draw(i + 1); [sequence[i], sequence[j]] = [sequence[j], sequence[i]]; } // §4
  const { turned_up: turned, leader } = released ?? {}, draws = Array.from({ length: 10 }, () => draw(cards));
  const may = faces ? draws.filter((place) => faces[place] === faceOf(turned)).slice(0, 1) : draws;
  if (turned && !may.some((place) => sequence[place] === leader)) yield "the turned-up card was not drawn for the leader";
  if (books.has(profile_hash)) yield* ruled(steps, books.get(profile_hash), sequence, draws, faces);
  Object.assign(said, { sequence: sequence.join(""), grade: "sequence" });
  yield* judge(rows, copies, sequence, said);
  if (!held || !record?.nonce || !faces || !record.events) return;
  if (sha256([...L("dealtable/hands/1"), ...L(unhex(commitment)), ...L(unhex(record.nonce)), ...faces]) !== held.hands) yield "these are not the bound hands"; // §6
  if (faces.length !== cards || copies.some((due, face) => faces.filter((each) => each === face).length !== due)) yield "the opened hands are no right set";
  said.grade = "hands";
}

const drawing = (stream) => (m) => {
  for (let b; ; ) if ((b = stream.next().value) < 256 - (256 % m)) return b % m; // §3
};

function found(where, checks) {
  const out = [];
  try { for (const what of checks) out.push(`${where}: ${what}`); }
  catch (error) { out.push(`${where}: it cannot be proved: ${error.message}`); }
  return out;
}
