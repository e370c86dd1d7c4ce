import { readdirSync } from "node:fs";
import { denoOutput } from "../../tests/tools/deno_output.ts";
import { highlight } from "../pages/highlight.ts";
import type { Page } from "../pages/layout.ts";
import type { SourceOf } from "../pages/resolve.ts";
import { anchor, linkTo, unescapeHtml } from "../pages/site.ts";
import type { ApiSymbol, Entry } from "./symbols.ts";

/** What the pages lead to. */
export interface ApiLinks {
  /** Symbols of all packages. */
  symbols: readonly ApiSymbol[];
  /** Addresses of symbols by their name, of names that mean one thing. */
  homes: ReadonlyMap<string, string>;
  /** Returns the address of the README of an entry point, or of its package. */
  readmeOf(entry: Entry): string;
  sourceOf: SourceOf;
}

/** A page that `deno doc` wrote: of a module, or of one of its symbols. */
interface Written {
  entry: Entry;
  symbol?: string;
  /** True for a member's page, which repeats a part of its symbol's. */
  isMember: boolean;
}

/** Finds module and symbol of a path; undefined for lists that repeat others. */
function writtenAt(
  path: string,
  entries: readonly Entry[],
): Written | undefined {
  const [match, module, symbol, member] =
    /^(?:(.+?)\/)?(?:index|~\/([^.]+)(\..+)?)\.html$/.exec(path) ?? [];
  const entry = entries.length === 1
    ? entries[0]
    : entries.find((it) => it.path === `${it.owner.folder}/${module}`);
  return match === undefined || entry === undefined
    ? undefined
    : { entry, symbol, isMember: member !== undefined };
}

const addressOf = ({ folder }: Entry, symbol = "index") =>
  `${folder}/${symbol}.html`;

/** Writes the pages of a package's interface, as `deno doc --html` has them. */
export async function apiPages(
  entries: readonly Entry[],
  links: ApiLinks,
): Promise<Page[]> {
  const output = await Deno.makeTempDir({ prefix: "bellman-api-" });
  try {
    const { name } = entries[0].owner;
    const paths = entries.map(({ path }) => path);
    const options = ["--html", `--name=${name}`, `--output=${output}`];
    await denoOutput(["doc", ...options, ...paths]);
    return readdirSync(output, { recursive: true, encoding: "utf8" }).sort()
      .flatMap((path) => {
        const written = writtenAt(path, entries);
        if (written === undefined || written.isMember) return [];
        const html = Deno.readTextFileSync(`${output}/${path}`);
        return [pageOf(html, { ...written, path, entries }, links)];
      });
  } finally {
    await Deno.remove(output, { recursive: true });
  }
}

function pageOf(
  html: string,
  { path, entry, symbol, entries }: Written & {
    path: string;
    entries: readonly Entry[];
  },
  links: ApiLinks,
): Page {
  const address = addressOf(entry, symbol);
  const [, content] = /<div id="content">(.*)(?:<\/div>\s*){3}<\/body>/s
    .exec(html) ?? [];
  if (content === undefined) {
    throw new SyntaxError(
      `Cannot read ${path} of ${entry.name}: 'deno doc' ` +
        "writes other pages than this version knows",
    );
  }
  const found = links.symbols.find((it) =>
    it.entry === entry && it.name === symbol
  );
  const source = found && links.sourceOf(found.file, found.line);
  const trail = [
    anchor(address, "api/index.html", "API"),
    anchor(address, links.readmeOf(entry), entry.owner.name),
    anchor(address, addressOf(entry), `API of ${entry.name}`),
  ];
  const others = entries.filter((it) => it !== entry)
    .map((it) => anchor(address, addressOf(it), it.name)).join(", ");
  const head = symbol === undefined
    ? `<h1>${entry.name}</h1>\n${others && `<p>Also ${others}.</p>`}`
    : "";
  const body = linked(
    cleaned(content, entry.name, source && `<a href="${source}">source</a>`),
    { address, path, entries, homes: links.homes },
  );
  return {
    address,
    title: symbol === undefined ? entry.name : `${symbol} · ${entry.name}`,
    summary: found?.doc || `The interface of ${entry.name}.`,
    body: `<nav class="trail" aria-label="Above">${trail.join(" › ")}</nav>
${head}
<div class="api">${body}</div>`,
  };
}

/**
 * Leaves out pictures, buttons and scripts, and colours the code.
 *
 * @param source Link to the source, once in a page: `deno doc` repeats it.
 */
function cleaned(content: string, name: string, source = ""): string {
  let titles = 0, sources = 0;
  return content
    .replace("<h3>Document Navigation</h3>", "<h3>On this page</h3>")
    .replaceAll(/<button class="copyButton".*?<\/button>/gs, "")
    .replaceAll(
      /<a\s+class="sourceButton".*?<\/a>/gs,
      () => sources++ === 0 ? source : "",
    )
    .replaceAll(/<svg.*?<\/svg>|<nav class="topSymbols">.*?<\/nav>/gs, "")
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
      const to = writtenAt(decodeURIComponent(pathname.slice(1)), entries);
      // A member's name on its symbol's page has an anchor beside it.
      if (to === undefined || to.isMember) return "";
      const page = addressOf(to.entry, to.symbol);
      return ` href="${linkTo(address, page + hash)}"`;
    })
    // Names of type parameters lead to anchors that are not there.
    .replaceAll(
      / href="#(type_param_\w+)"/g,
      (whole, id) => content.includes(` id="${id}"`) ? whole : "",
    )
    .replaceAll(/<span class="td-ref">(\w+)<\/span>/g, (whole, name) => {
      const home = homes.get(name);
      return home === undefined
        ? whole
        : `<a class="td-ref" href="${linkTo(address, home)}">${name}</a>`;
    });
}
