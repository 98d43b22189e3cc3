// Cards: their suits and ranks as buttons stand, and what a card is called.

import { say } from "./words.mjs";

export const SUITS = ["♠", "♥", "♣", "♦"];
/** The levels in the order in which they are climbed, which is the order of the faces, too. */
export const LEVELS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
/** The ranks as hands are held: the highest first. */
export const RANKS = [...LEVELS].reverse();

/** A card or a rank as people read it: "♠A" as it is, 大王 and 小王 by name. */
export function cardWords(card) {
  return card === "BJ" || card === "SJ" ? say(`card.${card}`) : card;
}
