// The verifier's findings in plain words, each with the verifier's own line.

import { say } from "./words.mjs";

const PLAIN = [
  [/its seed does not give its commitment/, "seed"],
  [/the players' cut did not go into it|its cut is not the one that was ordered/, "cut"],
  [/its cut was ordered before the commitment/, "cut-early"],
  [/its rulebook allows no such cut|its cut is none of its cards/, "cut-range"],
  [/it was dealt uncut, and nothing says why/, "uncut"],
  [/was not drawn for the leader|another seat should have led|the turned-up card and the leader/, "leader"],
  [/these are not the bound hands|its record does not open the hands/, "hands"],
  [/the opened hands are no right set/, "set"],
  [/the opened hands are not what the reader saw|nobody had read/, "read"],
  [/crossed the gate|no card can have gone this way|record and reveal tell other ways|the course of its cards/, "ways"],
  [/these hands were not right|counts are others|count otherwise|places have no card|a card fell or stuck/, "counts"],
  [/shuffle/, "shuffled"],
  [/stands behind|does not stand behind|is right without|its clock went back|has no end/, "order"],
  [/does not follow from the opened record|does not make it|is no reason|without a reason/, "reason"],
  [/its head does not follow|two events of this number|does not follow from the event before/, "chain"],
  [/that of another|the hands of two attempts|two tables|carried out before/, "twice"],
  [/its rules are called|its set is not that of its rulebook/, "rules"],
  [/sealed/, "sealed"],
];

/** Return a finding for people: {plain, line}. */
export function findingText(finding) {
  const known = PLAIN.find(([sign]) => sign.test(finding));
  return { plain: say(`proof.found.${known ? known[1] : "other"}`), line: finding };
}
