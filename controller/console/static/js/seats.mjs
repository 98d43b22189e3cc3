// The four seats in playing order, and the two sides.

export const SEATS = ["N", "W", "S", "E"];
export const SIDES = ["NS", "EW"];

/** Return the side of a seat. */
export const sideOf = (seat) => (seat === "N" || seat === "S" ? "NS" : "EW");
