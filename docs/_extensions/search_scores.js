// How the search ranks what it finds. The scores are those of Sphinx (sphinx/themes/basic/static/searchtools.js), but what the
// reference of Python has comes behind pages, commands and entries: before a mere mention if it has that very name, else after it.
var Scorer = {
  score: ([page, title, anchor, description, score]) => (page.startsWith("reference/api/") ? Math.min(score, 16) - 8 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 5, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
