import { run } from "@bellman/cli";
import { assert, assertEquals } from "@std/assert";

const CLIFF = `${import.meta.dirname}/cliff.ts`;

/** Runs a command line and returns what it printed. */
async function output(...args: string[]): Promise<string> {
  let out = "", err = "";
  const code = await run(args, {
    out: (text) => out += text,
    err: (text) => err += text,
    outIsTerminal: false,
    errIsTerminal: false,
  });
  assertEquals(code, 0, err);
  return out;
}

/** Settings of runs in which the defaults find the way. */
const RUNS = {
  "acer": ["--steps=60000"],
  "async-q": ["--steps=45000", "--workers=1", "--set=workerOrder=fixed"],
};

for (const [name, settings] of Object.entries(RUNS)) {
  Deno.test(`${name}'s defaults find the way along a cliff`, async () => {
    const dir = await Deno.makeTempDir({ prefix: "bellman-cliff-" });
    await output(
      ...["train", name, "--env=Cliff-v0", `--set=envModules=[${CLIFF}]`],
      ...["--preset=none", "--seed=0", "--quiet", ...settings],
      ...["--set=evaluationInterval=0", `--out=${dir}/run`],
    );
    const result = JSON.parse(await output("eval", `${dir}/run`, "--json"));
    await Deno.remove(dir, { recursive: true });
    assert(result.meanReturn >= -17, `${result.meanReturn}`);
  });
}
