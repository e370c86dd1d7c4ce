import { parse } from "@std/yaml";
import { existsSync, readdirSync } from "node:fs";
import { type Package, ROOT } from "../../tests/tools/packages.ts";

/** A Markdown file that is a page of the site. */
export interface Document {
  /** Path from the root of the checkout. */
  source: string;
  /** Address of its page: a README is the index of its folder. */
  address: string;
  /** Markdown without the head. */
  text: string;
  /** Head in YAML, of the card of an agent. */
  head: unknown;
}

const ROOT_FILES = ["README", "ARCHITECTURE", "CHANGELOG", "CONTRIBUTING"]
  .map((it) => `${it}.md`);

/** True where the checkout has a file or a folder. */
export const isThere = (path: string): boolean => existsSync(ROOT + path);

/** Lists Markdown files of a folder and those below. */
function markdownIn(folder: string): string[] {
  if (!isThere(folder)) return [];
  return readdirSync(ROOT + folder, { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path}`)
    .filter((path) => /\.md$/.test(path) && !path.includes("/testdata/"));
}

/** Reads a Markdown file, whose head is data. */
function read(source: string): Document {
  const whole = Deno.readTextFileSync(ROOT + source);
  const [front, yaml] = /^---\n(.*?)^---\n/ms.exec(whole) ?? ["", ""];
  const address = source.replace(/(^|\/)README\.md$/, "$1index.md")
    .replace(/^docs\/guides\//, "guides/").replace(/\.md$/, ".html");
  return {
    source,
    address,
    text: whole.slice(front.length),
    head: parse(yaml),
  };
}

/** Reads the Markdown files of the root, of the folders of texts and of packages. */
export function documentsOf(packages: readonly Package[]): Document[] {
  const texts = ["docs", "zoo"].flatMap(markdownIn);
  const readmes = packages.flatMap(({ folder }) => markdownIn(folder));
  return [...ROOT_FILES, ...texts, ...readmes].sort().map(read);
}
