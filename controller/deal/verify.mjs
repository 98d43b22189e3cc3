// Checks a table's public events as PROOF.md beside it says, in any browser: `await check(events)`.
// It shares no code with the program that wrote them. hashes.mjs has SHA-256 and SHAKE-256, record.mjs
// the order of steps, the cards' ways (PROOF.md §5) and the reasons that follow from them (§7).
import { L, canonical, sha256, shake256, unhex, utf8 } from "./hashes.mjs";
import { SEATS, faceOf, judge, order } from "./record.mjs";

/** Return every attempt with its proof and findings, and the findings of the events one by one. */
export async function check(events) {
  const rows = [...events].sort((a, b) => a.n - b.n).filter((row, i, all) => JSON.stringify(row) !== JSON.stringify(all[i - 1]));
  const findings = rows.flatMap((row, i) => found(row.n, chain(row, rows[i - 1])));
  const first = new Map(rows.filter((row) => row.kind === "committed").reverse().map((row) => [row.attempt, row]));
  const attempts = [...first.values()].reverse().map((row) => proved(row, rows.filter((one) => one.attempt === row.attempt)));
  return { attempts, findings };
}

function* chain({ attempt, boot, data, deal, kind, n, time, prev, head }, before) {
  const body = utf8(canonical({ attempt, boot, data, deal, kind, n, public: true, time }));
  if (sha256([...L("dealtable/entry/1"), ...unhex(prev), ...L(body)]) !== head) yield "its head does not follow from its text";
  if (before?.n === n) yield "there are two events of this number";
  if (before?.n === n - 1 && before.head !== prev) yield "it does not follow from the event before it";
}

function proved({ attempt, deal, n, data: { commitment } }, rows) {
  const steps = Object.fromEntries([...rows].reverse().map((row) => [row.kind, row.data])), { cut, verdict, revealed } = steps;
  const said = { attempt, deal, outcome: verdict?.outcome ?? null, cut: (cut ?? revealed)?.cut ?? null, commitment };
  Object.assign(said, { sequence: null, grade: null, verdicts: [] });
  return Object.assign(said, { findings: [...found(n, order(rows)), ...found(n, proof(steps, said, rows))] });
}

function* proof({ committed, cut, held, verdict, released, revealed, record }, said, rows) {
  const { table_key, match, profile_hash, set, commitment, deck: { packs, jokers, cards } } = committed;
  const copies = Array(52).fill(packs).concat(jokers ? [packs, packs] : [0, 0]);
  if (![1, 2, 3, 4].includes(packs) || cards !== copies.reduce((a, b) => a + b)) throw Error("no set has so many cards");
  if (!revealed || !verdict) return yield* judge(rows, copies, null, said);
  const seed = unhex(revealed.seed), context = [table_key, match, said.deal, said.attempt, unhex(profile_hash), set];
  if (sha256([...L("dealtable/commit/1"), ...context.flatMap(L), ...L(seed)]) !== commitment) yield "its seed does not give its commitment";
  if (cut && cut.cut !== revealed.cut) yield "the players' cut did not go into it";
  const draw = drawing(shake256([...L("dealtable/deal/1"), ...L(unhex(commitment)), ...L(seed), ...L(revealed.cut ?? "")]));
  const sequence = SEATS.flatMap((seat) => Array(cards / 4).fill(seat)), faces = record?.hands && unhex(record.hands, null);
  for (let i = cards - 1; i > 0; i--) { const j = draw(i + 1); [sequence[i], sequence[j]] = [sequence[j], sequence[i]]; }
  const turned = Array.from({ length: 10 }, () => draw(cards)).filter((place) => !faces || faces[place] === faceOf(released?.turned_up));
  if (released?.turned_up && !turned.some((place) => sequence[place] === released.leader)) yield "the turned-up card was not drawn";
  Object.assign(said, { sequence: sequence.join(""), grade: "sequence" });
  yield* judge(rows, copies, sequence, said);
  if (!held || !record?.nonce || !faces) return;
  if (sha256([...L("dealtable/hands/1"), ...L(unhex(commitment)), ...L(unhex(record.nonce)), ...faces]) !== held.hands) yield "these are not the bound hands";
  if (copies.some((due, face) => faces.filter((each) => each === face).length !== due)) yield "the opened hands are no right set";
  said.grade = "hands";
}

const drawing = (stream) => (m) => {
  for (let b; ; ) if ((b = stream.next().value) < 256 - (256 % m)) return b % m; // PROOF.md §3
};

function found(n, checks) {
  try { return Array.from(checks, (what) => `entry ${n}: ${what}`); }
  catch (error) { return [`entry ${n}: it cannot be proved: ${error.message}`]; }
}
