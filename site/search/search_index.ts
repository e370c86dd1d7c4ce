import MiniSearch from "minisearch";
import type { ApiSymbol } from "../api/symbols.ts";
import type { Read } from "../pages/lists.ts";
import { type Found, OPTIONS } from "./terms.ts";
import { topicEntries } from "./topics.ts";

/** Address of the index. */
export const INDEX = "search.json";

type Entry = Omit<Found, "id">;

/** Sections of a page. */
function sectionsOf({ address, rendered }: Read): Entry[] {
  return rendered.sections.map(({ id, title, text }) => ({
    title,
    text,
    page: id === "" ? "" : rendered.title,
    address: id === "" ? address : `${address}#${id}`,
  }));
}

/** A symbol and its settings. */
function symbolOf({ name, doc, address, entry, settings }: ApiSymbol): Entry[] {
  return [
    { title: name, text: doc, page: entry.name, address },
    ...settings.map((it) => ({
      title: it.name,
      names: it.aliases,
      text: it.doc,
      page: `${name} · ${entry.name}`,
      address: `${address}#property_${it.name.toLowerCase()}`,
    })),
  ];
}

/** Builds the index of documents and symbols. */
export function searchIndex(
  documents: readonly Read[],
  symbols: readonly ApiSymbol[],
): string {
  const entries = [
    ...documents.flatMap(sectionsOf),
    ...symbols.flatMap(symbolOf),
    ...topicEntries,
  ];
  const index = new MiniSearch<Found>(OPTIONS);
  index.addAll(entries.map((it, id) => ({ id, ...it })));
  return JSON.stringify(index);
}
