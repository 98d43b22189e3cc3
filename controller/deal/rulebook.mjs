// What a rulebook decides of a deal (PROOF.md §1, §2, §4). It is given as the two texts that its hash is
// of: { rules, page }, as `dealtable rules PROFILE --json` and `--regulations` print them.
import { L, sha256, unhex, utf8 } from "./hashes.mjs";
import { SEATS, faceOf } from "./record.mjs";

/** Return rulebooks by their hash. */
export const byHash = (texts) => new Map(texts.map(({ rules, page }) => {
  const hashes = [rules, page].flatMap((text) => L(unhex(sha256(utf8(text)))));
  return [sha256([...L("dealtable/profile/1"), ...hashes]), JSON.parse(rules)];
}));

/** Yield what of an attempt is otherwise than its rulebook has it.
 * `draws`: places (from 0) behind the sequence; `faces`: the opened hands, undefined while they are shut.
 */
export function* ruled({ committed, cut, released }, book, sequence, draws, faces) {
  const { packs, jokers, cards } = committed.deck, { deck, cut_margin: margin, turnup, bigtwo, name } = book;
  if (committed.profile !== name) yield `its rules are called ${committed.profile}, and are those of ${name}`;
  if (String([packs, jokers, cards]) !== String([deck.packs, deck.jokers, deck.cards])) yield "its set is not that of its rulebook";
  if (cut && cut.cut !== null && !(margin < cut.cut && cut.cut < cards - margin)) yield "its rulebook allows no such cut";
  const { turned_up: turned, leader } = released ?? {};
  if (!released || (!turned && !leader)) return;
  if (!turned !== !leader && !(bigtwo && leader)) yield "of the turned-up card and the leader one was taken out or put in";
  if (!faces) return;
  const again = turnup.redo_on.map(faceOf), place = draws.find((each) => !again.includes(faces[each]));
  const holder = bigtwo && SEATS.find((seat) => faces.some((face, i) => face === faceOf(bigtwo.lead.holder) && sequence[i] === seat));
  if (turned ? faces[place] !== faceOf(turned) || leader !== sequence[place] : holder && leader !== holder) yield "another seat should have led";
}
