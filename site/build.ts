import { fileURLToPath } from "node:url";
import { type Package, packages, ROOT } from "../tests/tools/packages.ts";
import { type ApiLinks, apiPages } from "./api/api_pages.ts";
import { entriesOf, type Entry, homesOf, symbolsOf } from "./api/symbols.ts";
import { documentsOf, isThere } from "./pages/documents.ts";
import { FRONT_FILES, frontPage } from "./pages/front.ts";
import {
  layout,
  type Page,
  SEARCH,
  shared,
  STYLE,
  top,
} from "./pages/layout.ts";
import {
  anchor,
  apiFolder,
  guidesPage,
  packagesPage,
  type Read,
} from "./pages/lists.ts";
import { render } from "./pages/markdown.ts";
import { Repository, resolverOf } from "./pages/resolve.ts";
import type { Site } from "./pages/site.ts";
import {
  type Agent,
  agentsOf,
  playedAt,
  playLink,
  zooPage,
} from "./pages/zoo.ts";
import { buildPlayground } from "./playground/build.ts";
import { INDEX, searchIndex } from "./search/search_index.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const PLAYGROUND = "playground/index.html";
const NOT_FOUND = "404.html";

/** Options of a build. */
export interface BuildOptions {
  /** Path of the site on its server, for the page of addresses that are not there. */
  base: string;
  /** Address of the repository that source files are shown in. */
  repository?: string;
  /**
   * False to leave out the pages of the interfaces, which take most of the time.
   *
   * @default true
   */
  withApi?: boolean;
}

/** A site, and addresses of pages that were left out. */
export interface Built {
  site: Site;
  leftOut: ReadonlySet<string>;
}

/** Builds the site out of the files of the checkout. */
export async function buildSite(
  { base, repository: address, withApi = true }: BuildOptions,
): Promise<Built> {
  const repository = new Repository(address);
  const all = await packages(), entries = entriesOf(all);
  const symbols = await symbolsOf(entries);
  const assets = new Set(FRONT_FILES), site: Site = new Map();
  const documents = readAll(all, repository, assets);
  const agents = agentsOf(documents);
  for (const { folder, ...agent } of agents) {
    const policy = playedAt({ folder, ...agent });
    if (policy !== undefined) assets.add(policy);
    if (isThere(`${folder}/play.gif`)) assets.add(`${folder}/play.gif`);
  }
  const put = (page: Page) => site.set(page.address, layout(page));
  for (const document of documents) put(pageOf(document, { entries, agents }));
  put(guidesPage(documents));
  put(packagesPage(documents, all));
  const readme = (name: string) =>
    documents.find(({ source }) => source === name);
  put(frontPage(readme("README.md")!, agents, address));
  put(zooPage(agents, readme("zoo/README.md")?.rendered.html));
  site.set(NOT_FOUND, notFoundPage(base));
  const api = {
    symbols,
    homes: homesOf(symbols),
    readmeOf: (entry: Entry) => readmeOf(entry, documents),
    sourceOf: (file: string, line: number) => repository.addressOf(file, line),
  };
  const [, playground, script] = await Promise.all([
    withApi ? putApi(all, entries, api, put) : undefined,
    playgroundFiles(),
    bundle(`${HERE}search/search.ts`),
  ]);
  for (const [name, bytes] of playground) site.set(name, bytes);
  site.set(SEARCH, script);
  site.set(STYLE, await Deno.readTextFile(`${HERE}style.css`));
  const rendered = documents.map((it) => [it.address, it.rendered] as const);
  site.set(INDEX, searchIndex(new Map(rendered), symbols));
  for (const it of assets) site.set(it, await Deno.readFile(ROOT + it));
  const addresses = [
    ...symbols.map((it) => it.address),
    ...entries.map(({ folder }) => `${folder}/index.html`),
  ];
  return { site, leftOut: new Set(withApi ? [] : addresses) };
}

function readAll(
  all: readonly Package[],
  repository: Repository,
  assets: Set<string>,
): Read[] {
  const documents = documentsOf(all);
  const resolve = resolverOf(documents, repository, assets);
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
  const { address, rendered: { html, title, summary, sections } } = document;
  const entry = entries.find(({ name }) => name === title);
  const agent = agents.find((it) => it.document === document);
  const added = [
    entry === undefined ? "" : anchor(
      address,
      `${apiFolder(entry.name)}/index.html`,
      `API of ${entry.name}`,
    ),
    agent === undefined ? "" : playLink(address, agent),
  ].join("");
  const actions = added === "" ? "" : `<p class="actions">${added}</p>\n`;
  return {
    address,
    title,
    summary,
    sections,
    body: html.replace("</h1>\n", (end) => end + actions),
  };
}

/** Address of an entry point's README, or its package's. */
function readmeOf(
  { name, owner }: Entry,
  documents: readonly Read[],
): string {
  const titled = (title: string) =>
    documents.find(({ rendered }) => rendered.title === title);
  return (titled(name) ?? titled(owner.name))!.address;
}

/** Adds the pages of all interfaces; each process of `deno doc` uses one core. */
async function putApi(
  all: readonly Package[],
  entries: readonly Entry[],
  links: ApiLinks,
  put: (page: Page) => unknown,
): Promise<void> {
  const waiting = [...all];
  const work = async () => {
    for (let it = waiting.shift(); it; it = waiting.shift()) {
      const own = entries.filter(({ owner }) => owner === it);
      (await apiPages(it, own, links)).forEach(put);
    }
  };
  await Promise.all(
    Array.from({ length: navigator.hardwareConcurrency }, work),
  );
}

/** The page that a server shows at any address, so that its links begin with the base. */
function notFoundPage(base: string): string {
  return layout({
    address: NOT_FOUND,
    title: "Not found",
    summary: "There is no such page.",
    body: `<h1>Not found</h1>\n<p>There is no such page: search for it, or ${
      anchor(NOT_FOUND, "index.html", "begin at the front page")
    }.</p>`,
  }).replaceAll(/( (?:href|src)=")(?!data:|#)/g, `$1${base}`);
}

/** Builds the playground as a part of the site. */
async function playgroundFiles(): Promise<Site> {
  const folder = await Deno.makeTempDir({ prefix: "bellman-playground-" });
  try {
    await buildPlayground(folder);
    const files: Site = new Map();
    for (const { name } of Deno.readDirSync(folder)) {
      files.set(`playground/${name}`, await Deno.readFile(`${folder}/${name}`));
    }
    const html = await Deno.readTextFile(`${folder}/index.html`);
    files.set(
      PLAYGROUND,
      // Its own style sheet comes last.
      html.replace(/(?=<link rel="stylesheet")/, `${shared(PLAYGROUND)}\n`)
        .replace("<body>", (it) => `${it}\n${top(PLAYGROUND)}`),
    );
    return files;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Bundles a script that a page runs without being a module. */
async function bundle(path: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform=browser", "--minify"],
      ...["--format=iife", path],
    ],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  return decoder.decode(stdout);
}
