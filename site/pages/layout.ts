import type { Section } from "./markdown.ts";
import { escapeMarkup } from "@bellman/training/plots";
import { linkTo } from "./site.ts";

/** A page without what all pages share. */
export interface Page {
  address: string;
  title: string;
  /** Text for search engines. */
  summary: string;
  /** HTML of the content, with one `h1`. */
  body: string;
  /** Headings that the page's contents list. */
  sections?: readonly Section[];
}

/** Sections of the site: their names by address. */
const SECTIONS: Readonly<Record<string, string>> = {
  "guides/index.html": "Guides",
  "packages.html": "Packages",
  "api/index.html": "API",
  "cli/index.html": "Command line",
  "docs/results.html": "Results",
  "zoo/index.html": "Zoo",
  "playground/index.html": "Playground",
  "CHANGELOG.html": "Changes",
};

const FOOTER: Readonly<Record<string, string>> = {
  "ARCHITECTURE.html": "Architecture",
  "docs/speed.html": "Speed",
  "docs/security.html": "Security",
  "CONTRIBUTING.html": "Contributing",
};

/** Addresses of the style sheet and of the program that searches. */
export const STYLE = "style.css";
export const SEARCH = "search.js";

const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

/** Longest description of a page: what search engines show. */
const SUMMARY_LENGTH = 160;

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  if (line.length <= SUMMARY_LENGTH) return line;
  return `${line.slice(0, line.lastIndexOf(" ", SUMMARY_LENGTH))} ...`;
}

/** Writes links; marks the one to the page itself. */
function links(from: string, names: Readonly<Record<string, string>>): string {
  return Object.entries(names).map(([address, name]) => {
    const current = address === from ? ' aria-current="page"' : "";
    return `<a href="${linkTo(from, address)}"${current}>${name}</a>`;
  }).join("\n");
}

function contents(sections: readonly Section[]): string {
  const listed = sections.filter(({ level }) => level === 2);
  if (listed.length < 3) return "";
  const items = listed.map(({ id, title }) =>
    `<li><a href="#${id}">${escapeMarkup(title)}</a></li>`
  );
  return `<details class="contents">
<summary>On this page</summary>
<ul>
${items.join("\n")}
</ul>
</details>`;
}

/** Writes the style sheet and the program that all pages have. */
export function shared(address: string): string {
  return `<link rel="stylesheet" href="${linkTo(address, STYLE)}">
<script src="${linkTo(address, SEARCH)}" defer></script>`;
}

/** Writes the top of all pages: sections and search. */
export function top(address: string): string {
  return `<header class="top">
<a class="brand" href="${linkTo(address, "index.html")}">Bellman</a>
<nav aria-label="Sections">
${links(address, SECTIONS)}
</nav>
<search hidden>
<input id="site-search" type="search" role="combobox" aria-label="Search" placeholder="Search: press /" aria-expanded="false" aria-controls="site-found" aria-autocomplete="list" autocomplete="off" spellcheck="false">
<p id="site-state" role="status"></p>
<ul id="site-found" role="listbox" aria-label="Found" hidden></ul>
</search>
</header>`;
}

/** Writes a page as HTML. */
export function layout(page: Page): string {
  const { address, title, summary, body, sections = [] } = page;
  const name = address === "index.html" ? title : `${title} · Bellman`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeMarkup(shortened(summary))}">
<title>${escapeMarkup(name)}</title>
<link rel="icon" href="data:,">
${shared(address)}
</head>
<body>
<a class="skip" href="#site-content">To the content</a>
${top(address)}
<div class="columns">
<main id="site-content">
${body}
</main>
${contents(sections)}
</div>
<footer>
<nav aria-label="About">
${links(address, FOOTER)}
</nav>
</footer>
</body>
</html>
`;
}
