import type { Options } from "minisearch";

/** What can be found: a section of a page, a symbol or a setting. */
export interface Found {
  id: number;
  title: string;
  /** Other names of a setting. */
  names?: string;
  text: string;
  /** Title of the page that it is on. */
  page: string;
  /** Address with the anchor. */
  address: string;
}

/** Splits a text into words; `ent_coef` and `entropyCoefficient` are found by parts, too. */
function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
    const parts = word.split(/_+|(?<=[a-z])(?=[A-Z])/).filter(Boolean);
    return parts.length > 1 ? [word, ...parts] : parts;
  });
}

/** Takes the ending off an English word: "resuming" is found as "resume". */
function stemOf(word: string): string {
  return word.toLowerCase().replace(/(?<=\p{L}{3})(?:ing|ed|es|s|e)$/u, "");
}

/** Options of the index; the same when it is built and when it is searched. */
export const OPTIONS: Options<Found> = {
  fields: ["title", "names", "text"],
  storeFields: ["title", "page", "address"],
  tokenize: wordsOf,
  processTerm: stemOf,
  searchOptions: {
    boost: { title: 4, names: 4 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => term.length > 5 ? 0.15 : false,
    combineWith: "AND",
  },
};
