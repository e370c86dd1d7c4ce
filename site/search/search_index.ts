import MiniSearch from "minisearch";
import type { ApiSymbol } from "../api/symbols.ts";
import type { Rendered } from "../pages/markdown.ts";
import { type Found, OPTIONS } from "./terms.ts";

/** Address of the index. */
export const INDEX = "search.json";

type Entry = Omit<Found, "id">;

/** Sections of a page. */
function sectionsOf(address: string, { title, sections }: Rendered): Entry[] {
  return sections.map(({ id, title: own, text }) => ({
    title: own,
    text,
    page: id === "" ? "" : title,
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

/** Builds the index of rendered texts by address, and of symbols. */
export function searchIndex(
  pages: ReadonlyMap<string, Rendered>,
  symbols: readonly ApiSymbol[],
): string {
  const entries = [
    ...[...pages].flatMap(([address, it]) => sectionsOf(address, it)),
    ...symbols.flatMap(symbolOf),
  ];
  const index = new MiniSearch<Found>(OPTIONS);
  index.addAll(entries.map((it, id) => ({ id, ...it })));
  return JSON.stringify(index);
}
