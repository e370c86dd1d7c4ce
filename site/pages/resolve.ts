import { posix } from "node:path";
import { ROOT } from "../../tests/tools/packages.ts";
import { type Document, isThere } from "./documents.ts";
import type { Resolve } from "./markdown.ts";
import { linkTo } from "./site.ts";

/** The repository that source files are shown in. */
export class Repository {
  readonly #address?: string;
  readonly #commit: string;

  /**
   * Shows sources of the present commit.
   *
   * @param address Address of the repository; without one there are no links.
   * @throws {TypeError} If the commit is unknown.
   */
  constructor(address?: string) {
    this.#address = address?.replace(/\/$/, "");
    this.#commit = address === undefined ? "" : commit(address);
  }

  /** Address of a file or a folder of the checkout, and of a line in it. */
  addressOf(path: string, line?: number): string | undefined {
    if (this.#address === undefined) return undefined;
    const { isDirectory } = Deno.statSync(posix.join(ROOT, path));
    const kind = isDirectory ? "tree" : "blob";
    const anchor = line === undefined ? "" : `#L${line}`;
    return `${this.#address}/${kind}/${this.#commit}/${path}${anchor}`;
  }
}

function commit(address: string): string {
  const { success, stdout } = new Deno.Command("git", {
    args: ["rev-parse", "HEAD"],
    cwd: ROOT,
    stderr: "null",
  }).outputSync();
  if (success) return new TextDecoder().decode(stdout).trim();
  throw new TypeError(
    `Cannot link to ${address} as the commit is unknown: expected a checkout of git`,
  );
}

/**
 * Returns where the links of documents lead: to pages, to files that become part of
 * the site (pictures, and what belongs to agents of the zoo), or to the repository.
 *
 * @param documents All documents.
 * @param repository Where other files are shown.
 * @param assets Receives the paths of the files that become part of the site.
 */
export function resolverOf(
  documents: readonly Document[],
  repository: Repository,
  assets: Set<string>,
): (document: Document) => Resolve {
  const addresses = new Map(documents.map((it) => [it.source, it.address]));
  return ({ source, address }) => (link, kind) => {
    if (/^(?:[a-z][a-z\d+.-]*:|#)/i.test(link)) return link;
    const [relative, anchor] = link.split("#");
    const path = posix.join(posix.dirname(source), relative)
      .replace(/\/$/, "");
    const page = addresses.get(path) ??
      addresses.get(posix.join(path, "README.md"));
    const end = anchor === undefined ? "" : `#${anchor}`;
    if (page !== undefined) return linkTo(address, page + end);
    // The check finds it.
    if (!isThere(path)) return link;
    if (kind === "link" && !path.startsWith("zoo/")) {
      return repository.addressOf(path);
    }
    assets.add(path);
    return linkTo(address, path);
  };
}
