// The four seats in playing order, and the sides they make.

export const SEATS = ["N", "W", "S", "E"];
export const SIDES = ["NS", "EW"];

/** The side that a seat plays for. */
export const sideOf = (seat) => (seat === "N" || seat === "S" ? "NS" : "EW");
