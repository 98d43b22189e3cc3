/** Names of tables and areas in the order of their numbers: 2 before 10. */
export const inOrder = new Intl.Collator("en", { numeric: true }).compare;
