/** Compare names of tables and areas by their numbers: 2 before 10. */
export const compareNames = new Intl.Collator("en", { numeric: true }).compare;
