// The place of every command's button on this page, by group.
//
// A test reads this table, and similar tables of other pages: every command must have a place. JSON
// between the marks.

/* places */
export const PLACES = {
  "deal": ["start_deal", "cut", "release", "confirm", "out", "withdraw_out", "result", "left", "name_leader", "stop_deal", "redeal", "void"],
  "players": ["attend", "seat", "call", "claim_count", "answer", "open_hand"],
  "tribute": ["tribute", "return", "choose", "swap_returns", "anti"],
  "clock": ["call_clock", "warn", "add_time"],
  "machine": ["hold", "resume", "acknowledge", "clear_jam"],
  "sets": ["replace_set", "clear_set"],
  "hand": ["dealt_by_hand", "shuffled", "cut_by_hand", "turned_up", "hands_dealt", "anti", "tribute", "return"],
  "match": ["set_match", "start_match", "transfer", "take_over"],
  "technician": ["selftest", "calibrate", "configure"]
};
/* end */

/** The likely next commands, by the phase of the match or of the machine. */
export const NEXT = {
  idle: ["set_match"],
  setup: ["start_match", "seat"],
  shuffle: ["shuffled"],
  cut: ["cut", "cut_by_hand"],
  turnup: ["turned_up"],
  dealing: ["hands_dealt"],
  held: ["release", "add_time"],
  count_check: ["confirm", "claim_count"],
  anti_check: ["anti"],
  tribute: ["confirm", "tribute"],
  return: ["confirm", "choose", "return"],
  choices: ["answer"],
  play: ["confirm", "result", "left", "withdraw_out", "out", "call_clock", "stop_deal"],
  result: ["confirm", "stop_deal"],
  forfeit: ["name_leader"],
};

/** Commands of one game only. They are hidden if the table plays the other game. */
export const GAME = {
  left: "bigtwo", answer: "bigtwo", tribute: "guandan", return: "guandan", choose: "guandan", swap_returns: "guandan",
  anti: "guandan", out: "guandan", withdraw_out: "guandan", result: "guandan", name_leader: "guandan",
};
