import { posix } from "node:path";
import { ROOT } from "../../tests/tools/packages.ts";
import { commitOf } from "../../lab/runs/tasks/commit.ts";
import { type Document, isThere } from "./documents.ts";
import type { Resolve } from "./markdown.ts";
import { linkTo } from "./site.ts";

/** Returns the address of a file or folder of the checkout, or of a line in it. */
export type SourceOf = (path: string, line?: number) => string | undefined;

/**
 * Returns where a repository shows the files of the present commit.
 *
 * @param repository Its address; without one there are no links to it.
 * @throws {TypeError} If the commit is unknown.
 */
export async function sourcesOf(repository?: string): Promise<SourceOf> {
  if (repository === undefined) return () => undefined;
  // The length of a short one depends on the clone.
  const commit = await commitOf(ROOT, { isShort: false });
  if (commit === "") {
    throw new TypeError(
      `Cannot link to ${repository} as the commit is unknown: expected a checkout of git`,
    );
  }
  return (path, line) => {
    const kind = Deno.statSync(ROOT + path).isDirectory ? "tree" : "blob";
    const anchor = line === undefined ? "" : `#L${line}`;
    return `${
      repository.replace(/\/$/, "")
    }/${kind}/${commit}/${path}${anchor}`;
  };
}

/**
 * Returns where the links of a document lead: to pages, to files that become part of
 * the site (pictures, and what belongs to agents of the zoo), or to the repository.
 *
 * @param documents All documents.
 * @param sourceOf Where other files are shown.
 * @param assets Receives the paths of the files that become part of the site.
 */
export function resolverOf(
  documents: readonly Document[],
  sourceOf: SourceOf,
  assets: Set<string>,
): (document: Document) => Resolve {
  const addresses = new Map([
    ["zoo/README.md", "zoo/index.html"],
    ["docs/guides", "guides/index.html"],
    ...documents.map((it) => [it.source, it.address] as const),
  ]);
  return ({ source, address }) => (link, kind) => {
    if (/^(?:[a-z][a-z\d+.-]*:|#)/i.test(link)) return link;
    const [relative, anchor] = decodeURI(link).split("#");
    const path = posix.join(posix.dirname(source), relative).replace(/\/$/, "");
    const page = addresses.get(path) ?? addresses.get(`${path}/README.md`);
    const end = anchor === undefined ? "" : `#${anchor}`;
    if (page !== undefined) return linkTo(address, page + end);
    // The check finds it.
    if (path.startsWith("..") || !isThere(path)) return link;
    const isShown = kind === "picture" || path.startsWith("zoo/");
    if (!isShown || !Deno.statSync(ROOT + path).isFile) return sourceOf(path);
    assets.add(path);
    return linkTo(address, path);
  };
}
