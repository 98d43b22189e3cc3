// The rows of a journal as its feed has them: the chain (JOURNAL.md), the runs of the daemon, and what
// attempts may not share with each other (PROOF.md, "What is published, and when").
import { L, canonical, sha256, unhex, utf8 } from "./hashes.mjs";
import { isEnd } from "./record.mjs";

/** Return events by their numbers, each once. */
export const sorted = (events) => [...events].sort((a, b) => a.n - b.n).filter((row, i, all) => !i || text(row) !== text(all[i - 1]));

const text = ({ prev, head, ...row }) => { try { return entry(row) + prev + head; } catch { return row; } };
const entry = ({ attempt, boot, data, deal, kind, n, time }) => canonical({ attempt, boot, data, deal, kind, n, public: true, time });

/** Yield what is wrong with an event, and with how it meets the one before it (JOURNAL.md). */
export function* chain(row, before) {
  const { data, n, prev, head } = row;
  if (data?.constructor !== Object) yield "it holds nothing";
  if (sha256([...L("dealtable/entry/1"), ...unhex(prev), ...L(utf8(entry(row)))]) !== head) yield "its head does not follow from its text";
  if (before?.n === n) yield "there are two events of this number";
  if (before?.n === n - 1 && before.head !== prev) yield "it does not follow from the event before it";
}

/** Yield rows of a run of the daemon that was not opened, or was over. Its `opened` may be in a gap. */
function* runs(rows) {
  const over = new Set([null]);
  let run = null, begun = true, last = 0; // null: it may have begun in the gap
  for (const { n, boot, kind } of rows) {
    const next = n === last + 1;
    last = n;
    if (over.has(boot)) { yield `entry ${n} is of a run that was over`; continue; }
    if (boot !== run) [begun, run] = [next ? false : null, over.add(run) && boot];
    else if (kind === "opened" && begun) yield `entry ${n} opens run ${boot} a second time`;
    if (["fault", "fault_cleared"].includes(kind)) continue;
    if (begun === false && kind !== "opened") yield `entry ${n} is of a run that was not opened`;
    begun = true;
  }
}

/** Yield what is wrong with events beside each other; `attempts` are the rows of each, as they began. */
export function* between(rows, attempts) {
  const keys = rows.filter(({ kind }) => ["opened", "committed"].includes(kind)).map(({ data }) => data.table_key);
  if (new Set(keys).size > 1) yield "there are rows of two tables";
  yield* runs(rows);
  const seen = new Set(), numbers = new Map(rows.map((row) => [row.n, row]));
  const again = (...value) => seen.has(canonical(value)) || !seen.add(canonical(value));
  for (const { n, boot, data } of rows.filter(({ kind }) => kind === "command")) {
    if (data.result && again("order", data.key, data.id)) yield `entry ${n} is an order that was carried out before`;
    if ("boot" in data && data.boot !== boot) yield `entry ${n} is an order to another run of the table`;
  }
  for (const [i, own] of attempts.entries()) {
    const steps = Object.fromEntries([...own].reverse().map((row) => [row.kind, row])), { committed, verdict, released, recalled, revealed, record } = steps;
    const { n, attempt, deal } = committed, following = attempts[i + 1]?.find(({ kind }) => kind === "committed");
    if (following?.attempt <= attempt) yield `attempt ${following.attempt} begins after attempt ${attempt}`;
    if (following && !verdict && following.n - n - rows.filter((row) => n < row.n && row.n < following.n).length < 3) yield `attempt ${attempt} has no end`;
    for (const [step, field] of [[revealed, "seed"], [committed, "commitment"], [record, "nonce"]])
      if (step?.data[field] && again(field, step.data[field])) yield `the ${field} of attempt ${attempt} is that of another`;
    if (released && !recalled && again("hands", committed.data.match, deal)) yield `deal ${deal} has the hands of two attempts`;
    for (const [kind, behind, back] of verdict?.data.outcome === "ok" ? [["held", "verdict", 1], ["dealt", "held", 2]] : []) {
      const step = kind in steps ? undefined : steps[behind], other = numbers.get(step?.n - back);
      if (other && other.boot === step.boot) yield `attempt ${attempt} is right without ${kind}`;
    }
    const end = [recalled, steps.withdrawn, verdict].find((step) => step);
    for (const [step, ...due] of end && isEnd(end) ? [[end, "revealed", "sealed_to_chief"], revealed?.n > end.n ? [revealed, "record"] : []] : []) {
      const behind = numbers.get(step?.n + 1);
      if (behind?.boot === step?.boot && behind && !(behind.attempt === attempt && due.includes(behind.kind))) yield `${due[0]} does not stand behind ${step.kind} of attempt ${attempt}`;
    }
  }
}
