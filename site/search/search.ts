/// <reference lib="dom" />
/** The search in each page: `/` focuses it, arrows and Enter choose what was found. */
import MiniSearch from "minisearch";
import { find, type Found, OPTIONS } from "./terms.ts";

type Result = Pick<Found, "title" | "page" | "address">;

/** Most results that are shown. */
const MOST = 10;

// Of the site, whatever the page is.
const { src } = document.currentScript as HTMLScriptElement;
const element = (id: string) => document.getElementById(id)!;
const input = element("site-search") as HTMLInputElement;
const list = element("site-found");
const state = element("site-state");
let index: Promise<MiniSearch<Found>> | undefined;
let chosen = -1;

async function load(): Promise<MiniSearch<Found>> {
  if (location.protocol === "file:") {
    throw new Error("it needs a web server, as pages from a disk load nothing");
  }
  const response = await fetch(new URL("search.json", src));
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return MiniSearch.loadJSON(await response.text(), OPTIONS);
}

/** Marks a result as the one that Enter opens. */
function choose(next: number): void {
  const options = [...list.children];
  chosen = options.length === 0 ? -1 : (next + options.length) % options.length;
  options.forEach((it, i) =>
    it.setAttribute("aria-selected", String(i === chosen))
  );
  options[chosen]?.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", options[chosen]?.id ?? "");
}

function optionOf({ title, page, address }: Result, i: number): HTMLLIElement {
  const [item, link, where] = ["li", "a", "small"]
    .map((it) => document.createElement(it));
  (link as HTMLAnchorElement).href = new URL(address, src).href;
  link.tabIndex = -1;
  link.textContent = title;
  where.textContent = page;
  item.id = `site-found-${i}`;
  item.role = "option";
  link.append(where);
  item.append(link);
  return item as HTMLLIElement;
}

function show(results: readonly Result[]): void {
  list.replaceChildren(...results.map(optionOf));
  list.hidden = results.length === 0;
  input.setAttribute("aria-expanded", String(!list.hidden));
  choose(0);
}

async function search(): Promise<void> {
  const query = input.value.trim();
  try {
    const loaded = await (index ??= load());
    // Meanwhile more was typed.
    if (query !== input.value.trim()) return;
    const results = query === "" ? [] : find(loaded, query).slice(0, MOST);
    show(results as unknown as Result[]);
    state.textContent = query === "" || results.length > 0
      ? ""
      : "Nothing found";
  } catch (error) {
    index = undefined;
    state.textContent = `Cannot search: ${(error as Error).message}`;
  }
}

function close(): void {
  show([]);
  state.textContent = "";
}

input.addEventListener("input", search);
input.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Escape") close();
  else if (event.key === "Enter") {
    list.children[chosen]?.querySelector("a")?.click();
  } else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  const types = (target as Element).matches("input, select, textarea");
  if (key !== "/" || types || ctrlKey || metaKey || altKey) return;
  event.preventDefault();
  input.focus();
});
document.addEventListener("click", ({ target }) => {
  if (!input.closest("search")!.contains(target as Node)) close();
});
input.closest<HTMLElement>("search")!.hidden = false;
