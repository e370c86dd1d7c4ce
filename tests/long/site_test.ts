/** The whole site: built twice, and every page opened. */
import { assert, assertEquals } from "@std/assert";
import { readdirSync } from "node:fs";
import { documentsOf } from "../../site/pages/documents.ts";
import { render } from "../../site/pages/markdown.ts";
import { agentsOf } from "../../site/pages/zoo.ts";
import { runDeno } from "../testdata/run_deno.ts";
import { chromiumTest } from "../testdata/run_page.ts";
import { LOCK, packages, ROOT } from "../tools/packages.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-site-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

/** Builds the site as its task does, once for each name. */
const builds = new Map<string, Promise<string>>();
function site(name: string): Promise<string> {
  const build = async () => {
    const out = `${dir}/${name}`;
    const { code, err } = await runDeno(["site", "--out", out], {
      command: "task",
      cwd: ROOT,
    });
    assertEquals([code, err], [0, ""]);
    return out;
  };
  if (!builds.has(name)) builds.set(name, build());
  return builds.get(name)!;
}

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((it) => Deno.statSync(`${folder}/${it}`).isFile).sort();

Deno.test("the same commit gives the same bytes", async () => {
  const [first, second] = [await site("first"), await site("second")];
  const names = filesOf(first);
  assert(names.length > 1000, `${names.length} files`);
  assertEquals(filesOf(second), names);
  for (const name of names) {
    const [a, b] = [first, second].map((it) =>
      Deno.readFileSync(`${it}/${name}`)
    );
    assertEquals(a.length, b.length, name);
    assertEquals(a.findIndex((byte, i) => byte !== b[i]), -1, name);
  }
});

Deno.test("the site has at most 100 MB", async () => {
  const folder = await site("first");
  const bytes = filesOf(folder)
    .reduce((sum, it) => sum + Deno.statSync(`${folder}/${it}`).size, 0);
  assert(bytes <= 100e6, `${bytes} bytes`);
});

Deno.test("the check has no complaint, pages of interfaces included", async () => {
  const options = { command: "task", cwd: ROOT } as const;
  const { code, err } = await runDeno(["site", "--check"], options);
  assertEquals([code, err], [0, ""]);
});

/** Does what a scenario of `site/testdata/drive.ts` says. */
async function drive<Value>(...scenario: string[]): Promise<Value> {
  const program = `${ROOT}site/testdata/drive.ts`;
  const { code, out, err } = await runDeno(
    [LOCK, "-A", program, await site("first"), ...scenario],
  );
  assertEquals(code, 0, err);
  const { value, complaints } = JSON.parse(out);
  assertEquals(complaints, []);
  return value;
}

chromiumTest(
  "every page asks nobody else, complains of nothing, and fits 360 pixels",
  async () => {
    const pages = filesOf(await site("first"))
      .filter((it) => it.endsWith(".html"));
    assertEquals(await drive("pages", JSON.stringify(pages)), []);
  },
);

const documents = documentsOf(await packages())
  .map((it) => ({ ...it, rendered: render(it.text, (link) => link) }));
for (const { name, policy, document } of agentsOf(documents)) {
  if (policy === undefined) continue;
  chromiumTest(
    `${name} has in the playground the return of its card`,
    async () => {
      const { mean, deviation } = Object(document.head).bellman.evaluation;
      const episodes = 64;
      const { meanReturn } = await drive<{ meanReturn: number }>(
        ...["policy", `../${policy}`, String(episodes)],
      );
      const error = 4 * deviation / Math.sqrt(episodes) + 0.02 * Math.abs(mean);
      assert(
        Math.abs(meanReturn - mean) <= error,
        `${meanReturn}, not ${mean}`,
      );
    },
  );
}
