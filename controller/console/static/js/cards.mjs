// Cards: the order of suits and ranks on buttons, and the names of cards.

import { say } from "./words.mjs";

export const SUITS = ["♠", "♥", "♣", "♦"];
/** The levels in rising order. The faces have the same order. */
export const LEVELS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
/** The ranks from high to low, as players sort their hands. */
export const RANKS = [...LEVELS].reverse();

/** Return the text of a card or rank: "♠A" unchanged, the jokers 大王 and 小王 by name. */
export function cardText(card) {
  return card === "BJ" || card === "SJ" ? say(`card.${card}`) : card;
}
