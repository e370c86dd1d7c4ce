/** Builds the site, or checks it: see `site/README.md`. */
import { parseArgs } from "@std/cli";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../tests/tools/packages.ts";
import { buildSite } from "./build.ts";
import { checkSite } from "./check.ts";
import type { Site } from "./pages/site.ts";

/** Lists the files of an earlier build, which the next one replaces. */
const LIST = ".bellman-site";

/**
 * Writes a site into a folder, in the place of an earlier one.
 *
 * @throws {TypeError} If the folder has other files.
 */
async function writeSite(site: Site, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const list = join(folder, LIST);
  const earlier = await Deno.readTextFile(list).catch(() => undefined);
  const isEmpty = [...Deno.readDirSync(folder)].length === 0;
  if (earlier === undefined && !isEmpty) {
    throw new TypeError(
      `Cannot write the site to ${folder}: it has other files, expected a new folder or one of an earlier build`,
    );
  }
  for (const it of earlier?.split("\n").filter(Boolean) ?? []) {
    if (!site.has(it)) await Deno.remove(join(folder, it)).catch(() => {});
  }
  for (const [address, content] of site) {
    const path = join(folder, address);
    await Deno.mkdir(dirname(path), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(path, content);
    else await Deno.writeFile(path, content);
  }
  await Deno.writeTextFile(list, [...site.keys()].sort().join("\n") + "\n");
}

/** Folders of this machine, which programs that write pages and bundles know. */
function machine(base: string): string[] {
  const [cache] = fileURLToPath(import.meta.resolve("minisearch"))
    .split("/npm/");
  return [ROOT, `${cache}/`].filter((it) => it !== base);
}

interface Given {
  out: string;
  base: string;
  repository?: string;
  check: boolean;
  api: boolean;
  words: string[];
}

/**
 * Reads the command line.
 *
 * @throws {TypeError} If an option is unknown or has no such value.
 */
function read(args: readonly string[]): Given {
  const given = parseArgs([...args], {
    string: ["out", "base", "repository", "words"],
    boolean: ["check", "api"],
    negatable: ["api"],
    default: { out: "site-out", base: "/bellman/", api: true, words: "" },
    unknown: (arg) => {
      throw new TypeError(
        `Cannot use ${arg}: expected --out DIR, --base PATH, --repository URL, --check, --no-api or --words A,B`,
      );
    },
  });
  const { base, repository, words, ...rest } = given as unknown as
    & Omit<Given, "words">
    & { words: string };
  if (!/^\/(?:[\w.~-]+\/)*$/.test(base)) {
    throw new TypeError(
      `Cannot use --base ${base}: expected a path from / to /, such as /bellman/`,
    );
  }
  if (repository !== undefined && !/^https?:\/\/[^\s"<>]+$/.test(repository)) {
    throw new TypeError(
      `Cannot use --repository ${repository}: expected its address, such as https://github.com/OWNER/bellman`,
    );
  }
  if (rest.out === "") {
    throw new TypeError("Cannot use --out: expected a folder");
  }
  const list = words.split(",").filter(Boolean);
  return { ...rest, base, repository, words: [...machine(base), ...list] };
}

async function run(given: Given): Promise<void> {
  const { base, repository, out, check, api } = given;
  const built = await buildSite({ base, repository, withApi: api });
  if (check) {
    const { complaints, outside } = checkSite(built, given);
    for (const it of outside) console.log(`not opened: ${it}`);
    for (const it of complaints) console.error(it);
    if (complaints.length > 0) Deno.exitCode = 1;
    return;
  }
  await writeSite(built.site, out);
  console.log(`wrote ${built.site.size} files to ${out}`);
}

try {
  await run(read(Deno.args));
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`error: ${error.message}`);
  Deno.exitCode = 2;
}
