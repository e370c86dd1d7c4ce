import { denoOutput } from "../tests/tools/deno_output.ts";
import { type Package, packages, ROOT } from "../tests/tools/packages.ts";
import { pageSheet } from "../tests/tools/style_sheets.ts";
import { type ApiLinks, apiPages } from "./api/api_pages.ts";
import {
  entriesOf,
  type Entry,
  homesOf,
  onceEach,
  symbolsOf,
} from "./api/symbols.ts";
import { documentsOf } from "./pages/documents.ts";
import { frontPage, HOME, PONG } from "./pages/front.ts";
import {
  layout,
  type Page,
  SEARCH,
  shared,
  STYLE,
  top,
} from "./pages/layout.ts";
import { apiPage, guidesPage, packagesPage, type Read } from "./pages/lists.ts";
import { LLMS, llmsText } from "./pages/llms.ts";
import { render } from "./pages/markdown.ts";
import { resolverOf, type SourceOf, sourcesOf } from "./pages/resolve.ts";
import { anchor, type Site } from "./pages/site.ts";
import {
  type Agent,
  agentsOf,
  classOf,
  playLink,
  zooPage,
} from "./pages/zoo.ts";
import { buildPlayground } from "./playground/build.ts";
import { INDEX, searchIndex } from "./search/search_index.ts";

/** Options of a build. */
export interface BuildOptions {
  /** Path of the site on its server, for the page of addresses that are not there. */
  base: string;
  /** Address of the repository that source files are shown in. */
  repository?: string;
  /** False to leave out the pages of the interfaces, which take most of the time. */
  withApi: boolean;
}

/** A site, and addresses of pages that were left out. */
export interface Built {
  site: Site;
  leftOut: ReadonlySet<string>;
}

/** Builds the site out of the files of the checkout. */
export async function buildSite(
  { base, repository, withApi }: BuildOptions,
): Promise<Built> {
  const sourceOf = await sourcesOf(repository);
  const all = await packages(), entries = entriesOf(all);
  const symbols = await symbolsOf(entries), once = onceEach(symbols);
  const site: Site = new Map(), assets = new Set([PONG]);
  const put = (page: Page) => site.set(page.address, layout(page));

  const documents = readAll(all, sourceOf, assets);
  const named = (name: string) => documents.find((it) => it.source === name);
  const agents = agentsOf(documents);
  for (const { picture, policy } of agents) {
    for (const it of [picture, policy]) if (it !== undefined) assets.add(it);
  }
  for (const it of documents) put(pageOf(it, { entries, agents }));
  put(guidesPage(documents));
  put(packagesPage(documents, all));
  put(apiPage(entries));
  put(frontPage(named("README.md")!, agents, repository));
  put(zooPage(agents, named("zoo/README.md")));
  site.set("404.html", notFoundPage(base));

  const readmeOf = ({ name, owner }: Entry) =>
    [name, owner.name].map((title) =>
      documents.find(({ rendered }) => rendered.title === title)
    ).find((it) => it !== undefined)!.address;
  const links = { symbols, homes: homesOf(once), readmeOf, sourceOf };
  await Promise.all([
    putPlayground(site),
    withApi ? putApi(put, entries, links) : undefined,
  ]);
  site.set(SEARCH, await searchScript());
  site.set(HOME, await bundled("site/home/demo.ts"));
  site.set(STYLE, await pageSheet(`${ROOT}site/style.css`));
  site.set(INDEX, searchIndex(documents, once));
  site.set(LLMS, llmsText(documents, all, base));
  for (const it of assets) site.set(it, await Deno.readFile(ROOT + it));
  const addresses = [
    ...symbols.map(({ address }) => address),
    ...entries.map(({ folder }) => `${folder}/index.html`),
  ];
  return { site, leftOut: new Set(withApi ? [] : addresses) };
}

/** Adds the pages of interfaces; each process of `deno doc` uses one core. */
async function putApi(
  put: (page: Page) => void,
  entries: readonly Entry[],
  links: ApiLinks,
): Promise<void> {
  const waiting = [...Map.groupBy(entries, ({ owner }) => owner).values()];
  const work = async () => {
    for (let own = waiting.shift(); own; own = waiting.shift()) {
      (await apiPages(own, links)).forEach(put);
    }
  };
  const { hardwareConcurrency } = navigator;
  await Promise.all(Array.from({ length: hardwareConcurrency }, work));
}

function readAll(
  all: readonly Package[],
  sourceOf: SourceOf,
  assets: Set<string>,
): Read[] {
  const documents = documentsOf(all);
  const resolve = resolverOf(documents, sourceOf, assets);
  return documents.map((it) => ({
    ...it,
    rendered: render(it.text, resolve(it)),
  }));
}

/** The page of a document, with links to what belongs to it. */
function pageOf(
  document: Read,
  { entries, agents }: {
    entries: readonly Entry[];
    agents: readonly Agent[];
  },
): Page {
  const { address, rendered: { html, ...rendered } } = document;
  const actions = [
    ...entries.filter(({ name }) => name === rendered.title).map((it) =>
      anchor(address, `${it.folder}/index.html`, `API of ${it.name}`)
    ),
    ...agents.filter((it) => it.document === document)
      .map((it) => playLink(address, it)),
  ].join("");
  const added = actions && `<p class="actions">${actions}</p>\n`;
  const agent = agents.find((it) => it.document === document);
  const body = html.replace("</h1>\n", (end) => end + added)
    .replaceAll("<img ", agent ? `<img${classOf(agent)} ` : "<img ");
  return { address, ...rendered, body };
}

/** The page that a server shows at any address, so that its links begin with the base. */
function notFoundPage(base: string): string {
  const address = "404.html";
  const front = anchor(address, "index.html", "begin at the front page");
  return layout({
    address,
    title: "Not found",
    summary: "There is no such page.",
    body: `<h1>Not found</h1>
<p>There is no such page: search for it, or ${front}.</p>`,
  }).replaceAll(/( (?:href|src)=")(?!data:|#)/g, `$1${base}`);
}

/** Adds the playground, with the top of all pages. */
async function putPlayground(site: Site): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "bellman-playground-" });
  const address = "playground/index.html";
  try {
    await buildPlayground(folder);
    for (const { name } of Deno.readDirSync(folder)) {
      site.set(`playground/${name}`, await Deno.readFile(`${folder}/${name}`));
    }
    const html = await Deno.readTextFile(`${folder}/index.html`);
    site.set(
      address,
      // Its own style sheet comes last.
      html.replace(/(?=<link rel="stylesheet")/, `${shared(address)}\n`)
        .replace("<body>", (it) => `${it}\n${top(address)}`),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Bundles the program that searches, which runs without being a module. */
async function searchScript(): Promise<string> {
  const folder = new URL("../..", import.meta.resolve("minisearch"));
  const license = await Deno.readTextFile(new URL("LICENSE.txt", folder));
  const script = await bundled("site/search/search.ts", "--format=iife");
  return `/*! minisearch\n${license.trim()}\n*/\n${script}`;
}

/** Bundles a program for pages. */
function bundled(path: string, ...options: string[]): Promise<string> {
  const flags = ["bundle", "--quiet", "--platform=browser", "--minify"];
  return denoOutput([...flags, ...options, path]);
}
