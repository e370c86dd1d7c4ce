import { assertEquals, assertThrows } from "@std/assert";
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
