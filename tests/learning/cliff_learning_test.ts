import { assert, assertEquals } from "@std/assert";
import { runCommand, trainWell } from "../runs.ts";

const CLIFF = `${import.meta.dirname}/cliff.ts`;

/** Settings of runs in which the defaults find the way. */
const RUNS = {
  "acer": ["--steps=60000"],
  "async-q": ["--steps=45000", "--workers=1", "--set=workerOrder=fixed"],
};

for (const [name, settings] of Object.entries(RUNS)) {
  Deno.test(`${name}'s defaults find the way along a cliff`, async () => {
    const dir = await Deno.makeTempDir({ prefix: "bellman-cliff-" });
    await trainWell([
      ...[name, "--env=Cliff-v0", `--set=envModules=[${CLIFF}]`],
      ...["--preset=none", "--seed=0", "--quiet", ...settings],
      ...["--set=evaluationInterval=0", `--out=${dir}/run`],
    ]);
    const { code, out, err } = await runCommand(
      ["eval", `${dir}/run`, "--json"],
    );
    assertEquals(code, 0, err);
    const result = JSON.parse(out);
    await Deno.remove(dir, { recursive: true });
    assert(result.meanReturn >= -17, `${result.meanReturn}`);
  });
}
