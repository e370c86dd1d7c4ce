import { parse } from "@std/yaml";
import { join, posix } from "node:path";
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

const ROOT_FILES = [
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
];

/** Folders whose Markdown files are pages, all of them. */
const FOLDERS = ["docs", "guides", "zoo"];

function* filesIn(folder: string): Generator<string> {
  const entries = [...Deno.readDirSync(join(ROOT, folder))];
  for (const { name, isDirectory, isFile } of entries) {
    const path = posix.join(folder, name);
    if (isDirectory && name !== "testdata") yield* filesIn(path);
    else if (isFile) yield path;
  }
}

/** True where the checkout has a file or a folder. */
export function isThere(path: string): boolean {
  try {
    Deno.statSync(join(ROOT, path));
    return true;
  } catch {
    return false;
  }
}

/** Address of the page of a Markdown file. */
function addressOf(source: string): string {
  return source.replace(/(^|\/)README\.md$/, "$1index.md")
    .replace(/\.md$/, ".html");
}

/** Reads a Markdown file, whose head is data. */
function read(source: string): Document {
  const whole = Deno.readTextFileSync(join(ROOT, source));
  const [front, yaml] = /^---\n(.*?)^---\n/ms.exec(whole) ?? ["", ""];
  return {
    source,
    address: addressOf(source),
    text: whole.slice(front.length),
    head: yaml === "" ? undefined : parse(yaml),
  };
}

/**
 * Reads the Markdown files that are pages: those of the root and its folders of texts,
 * and READMEs of packages.
 */
export function documentsOf(packages: readonly Package[]): Document[] {
  const texts = FOLDERS.filter(isThere).flatMap((it) => [...filesIn(it)])
    .filter((it) => it.endsWith(".md"));
  const readmes = packages.flatMap(({ folder }) => [...filesIn(folder)])
    .filter((it) => posix.basename(it) === "README.md");
  return [...ROOT_FILES, ...texts, ...readmes].sort().map(read);
}
