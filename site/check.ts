import type { Built } from "./build.ts";
import { unescapeHtml } from "./pages/site.ts";
import { INDEX } from "./search/search_index.ts";

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

function textOf(content: string | Uint8Array): string {
  return typeof content === "string"
    ? content
    : new TextDecoder().decode(content);
}

/** Values of attributes. */
function valuesOf(html: string, names: string): string[] {
  return [...html.matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, "g"))]
    .map(([, value]) => unescapeHtml(value));
}

/** Says what a page lacks, and what it may not have. */
function problemsOf(html: string): string[] {
  const titles = html.match(/<h1[\s>]/g)?.length ?? 0;
  const ids = valuesOf(html, "id");
  const inline =
    /<style|<script(?![^>]*\ssrc=)[^>]*>|<[^>]+\s(?:style|on\w+)="[^"]*"/;
  return [
    ...(/<title>[^<]+<\/title>/.test(html) ? [] : ["it has no title"]),
    ...(/<html lang="\w+"/.test(html) ? [] : ["it has no language"]),
    ...(titles === 1 ? [] : [`it has ${titles} h1, expected 1`]),
    ...(html.match(/<img\b[^>]*>/g) ?? [])
      .filter((it) => !/\salt="[^"]+"/.test(it))
      .map((it) => `${it} has no text`),
    ...(inline.exec(html) ?? []).map((it) => `${it} is style or program`),
    ...new Set(
      ids.filter((it, i) => ids.indexOf(it) !== i)
        .map((it) => `the anchor '${it}' is there twice`),
    ),
  ];
}

/** Checks a site: links, anchors, titles, texts of pictures, and words. */
export function checkSite(
  { site, leftOut }: Built,
  { base, words }: CheckOptions,
): Checked {
  const outside = new Set<string>(), complaints: string[] = [];
  const pages = [...site].filter(([address]) => address.endsWith(".html"))
    .map(([address, content]) => ({ address, html: textOf(content) }));
  const anchors = new Map(
    pages.map((it) => [it.address, new Set(valuesOf(it.html, "id"))]),
  );
  const root = `https://site${base}`;
  const problemOf = (link: string, from: string): string | undefined => {
    if (/^data:/.test(link)) return undefined;
    const url = new URL(link, root + from);
    if (/^(https?|mailto):/.test(link)) {
      outside.add(link);
      return undefined;
    }
    if (!url.href.startsWith(root)) return "leaves the site";
    const to = decodeURIComponent(url.pathname.slice(base.length));
    const policy = url.searchParams.get("policy");
    if (policy !== null) return problemOf(policy, to);
    const anchor = decodeURIComponent(url.hash.slice(1));
    if (leftOut.has(to)) return undefined;
    if (!site.has(to)) return "leads nowhere";
    const isFound = anchor === "" || anchors.get(to)?.has(anchor);
    return isFound ? undefined : "has no such anchor";
  };
  const follow = (links: readonly string[], from: string) => {
    for (const link of links) {
      const problem = problemOf(link, from);
      if (problem) complaints.push(`${from}: '${link}' ${problem}`);
    }
  };
  for (const { address, html } of pages) {
    complaints.push(...problemsOf(html).map((it) => `${address}: ${it}`));
    follow(valuesOf(html, "href|src"), address);
  }
  const { storedFields = {} } = JSON.parse(site.get(INDEX) as string);
  const found = Object.values<{ address: string }>(storedFields);
  follow(found.map((it) => it.address), INDEX);
  for (const [address, content] of site) {
    const text = textOf(content);
    const has = words.filter((it) => text.includes(it));
    if (has.length > 0) complaints.push(`${address}: it has ${has.join(", ")}`);
  }
  return { complaints, outside: [...outside].sort() };
}
