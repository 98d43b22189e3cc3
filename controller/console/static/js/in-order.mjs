/** Compare names of tables and areas by their numbers: 2 before 10. */
export const inOrder = new Intl.Collator("en", { numeric: true }).compare;
