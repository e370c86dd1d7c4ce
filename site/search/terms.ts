import type MiniSearch from "minisearch";
import type { Options, SearchResult } from "minisearch";

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

/** Words that say nothing about a text. */
const EMPTY =
  /^(?:an?|and|are|as|at|be|by|can|do|for|from|how|in|is|its?|my|of|on|or|own|than|that|the|their|to|was|what|where|which|with|you)$/i;

/** Takes the ending off an English word: "resuming" is found as "resume". */
function stemOf(word: string): string | undefined {
  if (EMPTY.test(word)) return undefined;
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

/** Finds texts with all words, or, where there are none, with some of them. */
export function find(index: MiniSearch<Found>, query: string): SearchResult[] {
  const found = index.search(query);
  return found.length > 0 ? found : index.search(query, { combineWith: "OR" });
}
