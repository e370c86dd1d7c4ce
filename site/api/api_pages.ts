import { posix } from "node:path";
import type { Package } from "../../tests/tools/packages.ts";
import { highlight } from "../pages/highlight.ts";
import type { Page } from "../pages/layout.ts";
import { anchor } from "../pages/lists.ts";
import { linkTo, unescapeHtml } from "../pages/site.ts";
import { type ApiSymbol, denoDoc, type Entry } from "./symbols.ts";

/** What the pages of a package lead to. */
export interface ApiLinks {
  /** Symbols of all packages. */
  symbols: readonly ApiSymbol[];
  /** Addresses of symbols by their name, of names that mean one thing. */
  homes: ReadonlyMap<string, string>;
  /** Address of the README of an entry point; its package's where it has none. */
  readmeOf(entry: Entry): string;
  /** Address of a line of a source file; undefined without a repository. */
  sourceOf(file: string, line: number): string | undefined;
}

/** A page that `deno doc` wrote. */
interface Written {
  /** Path from the package's folder, of the module or of a symbol. */
  path: string;
  entry: Entry;
  /** Name of the symbol; none of a module. */
  symbol?: string;
}

/** Path of a written page, whose module is a path and whose symbols lie below `~`. */
const WRITTEN = /^(?:(.+?)\/)?(?:index|~\/([^.]+)(\..+)?)\.html$/;

/**
 * Finds module and symbol of a written page; undefined for lists that repeat others.
 * A member's page repeats its symbol's.
 */
function parsePath(
  path: string,
  entries: readonly Entry[],
): { entry: Entry; symbol?: string; isMember: boolean } | undefined {
  const [match, module, symbol, member] = WRITTEN.exec(path) ?? [];
  if (match === undefined) return undefined;
  const [{ owner }] = entries;
  const entry = entries.length === 1
    ? entries[0]
    : entries.find((it) => it.path === `${owner.folder}/${module}`);
  if (entry === undefined) return undefined;
  return { entry, symbol, isMember: member !== undefined };
}

function addressOf({ folder }: Entry, symbol = "index"): string {
  return `${folder}/${symbol}.html`;
}

/** Writes the pages of a package's interface, as `deno doc` has them. */
export async function apiPages(
  owner: Package,
  entries: readonly Entry[],
  links: ApiLinks,
): Promise<Page[]> {
  const output = await Deno.makeTempDir({ prefix: "bellman-api-" });
  try {
    await denoDoc([
      ...["--html", `--name=${owner.name}`, `--output=${output}`],
      ...owner.entryPoints,
    ]);
    return pathsIn(output).sort().flatMap((path) => {
      const found = parsePath(path, entries);
      if (found === undefined || found.isMember) return [];
      const html = Deno.readTextFileSync(`${output}/${path}`);
      const { entry, symbol } = found;
      return [pageOf(html, { path, entry, symbol }, entries, links)];
    });
  } finally {
    await Deno.remove(output, { recursive: true });
  }
}

function pathsIn(folder: string, path = ""): string[] {
  return [...Deno.readDirSync(posix.join(folder, path))].flatMap((it) => {
    const inner = posix.join(path, it.name);
    if (it.isDirectory) return pathsIn(folder, inner);
    return inner.endsWith(".html") ? [inner] : [];
  });
}

function pageOf(
  html: string,
  written: Written,
  entries: readonly Entry[],
  links: ApiLinks,
): Page {
  const { path, entry, symbol } = written;
  const address = addressOf(entry, symbol);
  const [, content] =
    /<div id="content">(.*)<\/div>\s*<\/div>\s*<\/div>\s*<\/body>/s
      .exec(html) ?? [];
  if (content === undefined) {
    throw new SyntaxError(
      `Cannot read ${path} of ${entry.name}: 'deno doc' writes other pages than this version knows`,
    );
  }
  const source = links.symbols.find((it) =>
    it.entry === entry && it.name === symbol
  );
  const line = source && links.sourceOf(source.file, source.line);
  const body = linked(
    cleaned(content, entry.name, line ? `<a href="${line}">source</a>` : ""),
    { address, path, entries, homes: links.homes },
  );
  const trail = [
    anchor(address, "packages.html", "Packages"),
    anchor(address, links.readmeOf(entry), entry.owner.name),
    anchor(address, addressOf(entry), `API of ${entry.name}`),
  ];
  const summary = source?.doc || `The interface of ${entry.name}.`;
  return {
    address,
    title: symbol === undefined ? entry.name : `${symbol} · ${entry.name}`,
    summary,
    body: `<nav class="trail" aria-label="Above">${trail.join(" › ")}</nav>
${symbol === undefined ? moduleHead(address, entry, entries) : ""}
<div class="api">${body}</div>`,
  };
}

/** Title of a module's page, with the other modules of its package. */
function moduleHead(
  address: string,
  entry: Entry,
  entries: readonly Entry[],
): string {
  const others = entries.filter((it) => it !== entry)
    .map((it) => anchor(address, addressOf(it), it.name));
  const list = others.length > 0 ? `<p>Also ${others.join(", ")}.</p>` : "";
  return `<h1>${entry.name}</h1>\n${list}`;
}

/**
 * Leaves out pictures, buttons and scripts, and colours the code.
 *
 * @param source Link to the source, once in a page: `deno doc` repeats it.
 */
function cleaned(content: string, name: string, source: string): string {
  let titles = 0, sources = 0;
  return content
    .replaceAll(/<button class="copyButton".*?<\/button>/gs, "")
    .replaceAll(
      /<a\s+class="sourceButton"[^>]*>.*?<\/a>/gs,
      () => sources++ === 0 ? source : "",
    )
    .replaceAll(/<svg.*?<\/svg>/gs, "")
    .replaceAll(/<code><\/code>| id=""| tabIndex="-1"/g, "")
    .replaceAll(/<(\/?)main\b/g, "<$1div")
    .replaceAll(
      /<div class="text-2xl leading-none break-all">(.*?)<\/div>/gs,
      (_, title) => titles++ === 0 ? `<h1>${title}</h1>` : `<h2>${title}</h2>`,
    )
    .replaceAll(
      /(<div class="usageContent">.*?from &quot;)[^&]*(&quot;)/gs,
      `$1${name}$2`,
    )
    .replaceAll(
      /<code class="language-(\w+)">(.*?)<\/code>/gs,
      (_, language, code) =>
        `<code>${highlight(unescapeHtml(code), language)}</code>`,
    );
}

/** Leads links to the pages of this site, and names of other packages to theirs. */
function linked(
  content: string,
  { address, path, entries, homes }: {
    address: string;
    path: string;
    entries: readonly Entry[];
    homes: ReadonlyMap<string, string>;
  },
): string {
  const base = new URL(path, "https://pages/");
  return content
    .replaceAll(
      /<a href="https:\/\/deno\.land\/[^>]*>(.*?)<\/a>/g,
      "<span>$1</span>",
    )
    .replaceAll(/ href="([^"#][^"]*)"/g, (whole, escaped) => {
      const { host, pathname, hash } = new URL(unescapeHtml(escaped), base);
      if (host !== base.host) return whole;
      const found = parsePath(decodeURIComponent(pathname.slice(1)), entries);
      if (found === undefined) return "";
      const to = addressOf(found.entry, found.symbol);
      return ` href="${linkTo(address, to + hash)}"`;
    })
    // Names of type parameters lead to anchors that are not there.
    .replaceAll(
      / href="#(type_param_\w+)"/g,
      (whole, id) => content.includes(` id="${id}"`) ? whole : "",
    )
    .replaceAll(/<span class="td-ref">(\w+)<\/span>/g, (whole, name) => {
      const home = homes.get(name);
      if (home === undefined) return whole;
      return `<a class="td-ref" href="${linkTo(address, home)}">${name}</a>`;
    });
}
