/** Builds the site, or checks it: see `site/README.md`. */
import { parseArgs } from "@std/cli";
import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../tests/tools/packages.ts";
import { buildSite } from "./build.ts";
import { checkSite } from "./check.ts";
import type { Site } from "./pages/site.ts";

/** Marks the folder of a build, which the next one replaces. */
const MARK = ".bellman-site";

const refuse = (option: string, expected: string) =>
  new TypeError(`Cannot use ${option}: expected ${expected}`);

/** Refuses a folder with files that are not an earlier site's. */
function checkFolder(folder: string): void {
  if (!existsSync(folder) || existsSync(`${folder}/${MARK}`)) return;
  if (Deno.statSync(folder).isDirectory && !readdirSync(folder).length) return;
  throw refuse(`--out ${folder}`, "a new or empty folder, or an earlier site");
}

/** Writes a site into a folder, in the place of an earlier one. */
async function writeSite(site: Site, folder: string): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  for (const [address, content] of [...site, [MARK, ""] as const]) {
    const path = `${folder}/${address}`;
    await Deno.mkdir(dirname(path), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(path, content);
    else await Deno.writeFile(path, content);
  }
}

/** Reads the command line. */
function read(args: readonly string[]) {
  const given = parseArgs([...args], {
    string: ["out", "base", "repository", "words"],
    boolean: ["check", "api"],
    negatable: ["api"],
    default: { out: "site-out", base: "/bellman/", api: true, words: "" },
    unknown: (arg) => {
      throw refuse(
        arg,
        "--out DIR, --base PATH, --repository URL, --check, --no-api or --words A,B",
      );
    },
  });
  const [out, base, words] = [given.out, given.base, given.words].map(String);
  const repository = given.repository as string | undefined;
  if (!/^\/(?:[\w.~-]+\/)*$/.test(base)) {
    throw refuse(`--base ${base}`, "a path from / to /, such as /bellman/");
  }
  if (repository !== undefined && !/^https?:\/\/[^\s"<>]+$/.test(repository)) {
    throw refuse(
      `--repository ${repository}`,
      "an address, such as https://github.com/OWNER/bellman",
    );
  }
  if (out === "") throw refuse("--out", "a folder");
  // Programs that write pages and bundles know where they ran.
  const [cache] = fileURLToPath(import.meta.resolve("minisearch")).split(
    "npm/",
  );
  return {
    out,
    base,
    repository,
    words: [ROOT, cache, ...words.split(",")].filter((it) =>
      it !== "" && it !== base
    ),
    isCheck: given.check === true,
    withApi: given.api === true,
  };
}

try {
  const { out, isCheck, ...options } = read(Deno.args);
  if (!isCheck) checkFolder(out);
  const built = await buildSite(options);
  if (isCheck) {
    const { complaints, outside } = checkSite(built, options);
    for (const it of outside) console.log(`not opened: ${it}`);
    for (const it of complaints) console.error(it);
    if (complaints.length > 0) Deno.exitCode = 1;
  } else {
    await writeSite(built.site, out);
    console.log(`wrote ${built.site.size} files to ${out}`);
  }
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`error: ${error.message}`);
  Deno.exitCode = 2;
}
