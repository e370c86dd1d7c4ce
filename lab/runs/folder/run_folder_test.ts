import { assertEquals, assertThrows } from "@std/assert";
import { runDeno } from "../../../tests/testdata/run_deno.ts";
import { createRunFolder, openRunFolder, RunFolder } from "./run_folder.ts";

Deno.test("the names of a run", () => {
  const folder = new RunFolder("runs/x");
  assertEquals([
    folder.configPath,
    folder.progressPath,
    folder.episodesPath,
    folder.reportPath,
    folder.checkpointsDir,
    folder.eventsDir,
  ], [
    "runs/x/config.yaml",
    "runs/x/progress.csv",
    "runs/x/episodes.csv",
    "runs/x/report.html",
    "runs/x/checkpoints",
    "runs/x",
  ]);
});

Deno.test("a run is made once and opened later", async () => {
  const root = await Deno.makeTempDir();
  const dir = `${root}/a/b`;
  createRunFolder(dir, { configText: "seed: 1\n" });
  assertEquals(
    Deno.readTextFileSync(openRunFolder(dir).configPath),
    "seed: 1\n",
  );
  assertThrows(
    () => createRunFolder(dir),
    RangeError,
    `Cannot create run ${dir}: the folder already holds a run, wanted a new one`,
  );
  assertEquals([...Deno.readDirSync(dir)].length, 1);
  assertThrows(
    () => createRunFolder(`${root}/a`),
    RangeError,
    `Cannot create run ${root}/a: the folder is not empty, wanted a new one`,
  );
  assertThrows(
    () => openRunFolder(`${root}/a`),
    RangeError,
    `Cannot open run ${root}/a: it has no config.yaml`,
  );
  // An empty folder may be taken.
  Deno.mkdirSync(`${root}/c`);
  createRunFolder(`${root}/c`);
  await Deno.remove(root, { recursive: true });
});

Deno.test("processes that make the same folder at a time have one each", async () => {
  const root = await Deno.makeTempDir();
  const rounds = 20;
  const path = new URL("testdata/claim_process.ts", import.meta.url).pathname;
  const start = Date.now() + 1500;
  const results = await Promise.all(
    Array.from({ length: 6 }, async (_, id) => {
      const args = [root, id, start, rounds].map(String);
      const { out, err } = await runDeno(["-A", path, ...args]);
      if (out === "") throw new Error(err);
      return JSON.parse(out) as [string, boolean][];
    }),
  );
  for (let round = 0; round < rounds; round++) {
    const names = results.map((of) => of[round][0]).sort();
    const wanted = ["", "-2", "-3", "-4", "-5", "-6"]
      .map((end) => `${root}/run${round}${end}`);
    assertEquals(names, wanted);
    results.forEach((of, id) =>
      assertEquals(
        Deno.readTextFileSync(`${of[round][0]}/config.yaml`),
        `id: ${id}\n`,
      )
    );
    assertEquals(results.filter((of) => of[round][1]).length, 1);
  }
  await Deno.remove(root, { recursive: true });
});
