import type { Built } from "./build.ts";
import { unescapeHtml } from "./pages/site.ts";
import { INDEX } from "./search/search_index.ts";

/** An opening tag of a page. */
interface Tag {
  name: string;
  attributes: ReadonlyMap<string, string>;
}

/** What is wrong with a site, and where it leads. */
export interface Checked {
  /** A line for each thing that is wrong: page and thing. */
  complaints: string[];
  /** Links to other sites, each once, which are not opened. */
  outside: string[];
}

/** Options of a check. */
export interface CheckOptions {
  /** Path of the site on its server. */
  base: string;
  /** Words that may stand nowhere, such as folders of the machine. */
  words: readonly string[];
}

const TAG = /<(\w+)((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*\/?>/g;
const ATTRIBUTE = /([\w:-]+)(?:="([^"]*)")?/g;

function tagsOf(html: string): Tag[] {
  return [...html.matchAll(TAG)].map(([, name, attributes]) => ({
    name,
    attributes: new Map(
      [...attributes.matchAll(ATTRIBUTE)]
        .map(([, key, value = ""]) => [key, unescapeHtml(value)]),
    ),
  }));
}

/** What a page must have and must not have. */
function problemsOf(html: string, tags: readonly Tag[]): string[] {
  const count = (name: string) => tags.filter((it) => it.name === name).length;
  const ids = tags.flatMap(({ attributes }) => attributes.get("id") ?? []);
  const twice = ids.filter((it, i) => ids.indexOf(it) !== i);
  const [, title = ""] = /<title>([^<]*)<\/title>/.exec(html) ?? [];
  const [root] = tags.filter(({ name }) => name === "html");
  const bare = tags.filter(({ name, attributes }) =>
    name === "img" && !attributes.get("alt")?.trim()
  );
  const inline = tags.filter(({ name, attributes }) =>
    name === "style" || (name === "script" && !attributes.has("src")) ||
    [...attributes.keys()].some((it) => it === "style" || /^on/.test(it))
  );
  return [
    title.trim() === "" ? "it has no title" : "",
    root?.attributes.get("lang") ? "" : "its language is missing",
    count("h1") === 1 ? "" : `it has ${count("h1")} h1, expected 1`,
    ...bare.map(({ attributes }) => `no text for ${attributes.get("src")}`),
    ...inline.map(({ name }) => `<${name}> has a style or program within it`),
    ...twice.map((id) => `the anchor '${id}' is there twice`),
  ].filter(Boolean);
}

/** The text of a file; nothing for pictures and programs in binary form. */
function textOf(address: string, content: string | Uint8Array): string {
  if (typeof content === "string") return content;
  return /\.(css|csv|html|js|json|svg|txt|yaml)$/.test(address)
    ? new TextDecoder().decode(content)
    : "";
}

/** Pages of a site, whose links are followed. */
class Pages {
  readonly outside = new Set<string>();
  readonly #built: Built;
  readonly #root: string;
  readonly #tags = new Map<string, Tag[]>();
  readonly #anchors = new Map<string, Set<string>>();

  constructor(built: Built, base: string) {
    this.#built = built;
    this.#root = `https://site${base}`;
    for (const [address, content] of built.site) {
      if (!address.endsWith(".html")) continue;
      const tags = tagsOf(textOf(address, content));
      const ids = tags.flatMap((it) => it.attributes.get("id") ?? []);
      this.#tags.set(address, tags);
      this.#anchors.set(address, new Set(ids));
    }
  }

  /** Says what is wrong with the pages themselves. */
  *problems(): Generator<string> {
    for (const [address, tags] of this.#tags) {
      const html = textOf(address, this.#built.site.get(address)!);
      for (const it of problemsOf(html, tags)) yield `${address}: ${it}`;
    }
  }

  /** Says which links lead nowhere; those of the index of the search, too. */
  *deadLinks(): Generator<string> {
    const links = [...this.#tags].flatMap(([address, tags]) =>
      tags.flatMap(({ attributes }) =>
        ["href", "src"].flatMap((it) => attributes.get(it) ?? [])
          .map((link) => [address, link])
      )
    );
    for (const [address, link] of [...links, ...this.#indexed()]) {
      const problem = this.#follow(address, link);
      if (problem !== undefined) yield `${address}: '${link}' ${problem}`;
    }
  }

  #indexed(): string[][] {
    const index = this.#built.site.get(INDEX) as string;
    const { storedFields } = JSON.parse(index);
    return Object.values<{ address: string }>(storedFields)
      .map(({ address }) => [INDEX, address]);
  }

  #follow(from: string, link: string): string | undefined {
    if (/^data:/.test(link)) return undefined;
    if (/^(https?|mailto):/.test(link)) {
      this.outside.add(link);
      return undefined;
    }
    const url = new URL(link, this.#root + from);
    if (!url.href.startsWith(this.#root)) return "leaves the site";
    const { site, leftOut } = this.#built;
    const { length } = new URL(this.#root).pathname;
    const to = decodeURIComponent(url.pathname.slice(length));
    const policy = url.searchParams.get("policy");
    if (policy !== null) return this.#follow(to, policy);
    const anchor = decodeURIComponent(url.hash.slice(1));
    if (leftOut.has(to)) return undefined;
    if (!site.has(to)) return "leads nowhere";
    if (anchor === "" || this.#anchors.get(to)?.has(anchor)) return undefined;
    return "has no such anchor";
  }
}

/** Says where files have words that may stand nowhere. */
function* wordsIn(
  { site }: Built,
  words: readonly string[],
): Generator<string> {
  for (const [address, content] of site) {
    const text = textOf(address, content);
    const found = words.filter((it) => text.includes(it));
    if (found.length > 0) yield `${address}: it has '${found.join("', '")}'`;
  }
}

/** Checks a site: links, anchors, titles, texts of pictures, and words. */
export function checkSite(
  built: Built,
  { base, words }: CheckOptions,
): Checked {
  const pages = new Pages(built, base);
  const complaints = [
    ...pages.problems(),
    ...pages.deadLinks(),
    ...wordsIn(built, words),
  ];
  return { complaints, outside: [...pages.outside].sort() };
}
