import { makeVec } from "@bellman/envs";
import { evaluate } from "@bellman/training";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { capture } from "../../../cli/testdata/capture.ts";
import { loadRun } from "./load_run.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-load-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

/** Trains a few steps. */
async function trained(name: string, ...args: string[]): Promise<string> {
  const out = `${dir}/${name}`;
  const { code, err } = await capture(
    ...["train", ...args, "--quiet", "--backend=cpu", "--steps=64"],
    ...["--set=evaluationEpisodes=2", "--set=evaluationInterval=0"],
    `--out=${out}`,
  );
  assertEquals(code, 0, err);
  return out;
}

const CASES: Record<string, string[]> = {
  rollout: ["a2c", "--set=normalizeObservation=true"],
  replay: [
    ...["sac", "--env=Pendulum-v1", "--set=normalizeObservation=true"],
    ...["--set=learningStarts=20", "--set=batchSize=8"],
    "--set=hiddenSizes=[8]",
  ],
};

for (const [name, args] of Object.entries(CASES)) {
  Deno.test(`a loaded ${name} agent plays as 'eval' says`, async () => {
    const run = await trained(name, ...args);
    const { out } = await capture("eval", run, "--episodes=3", "--json");
    const { returns } = JSON.parse(out);
    const loaded = await loadRun(run, { numEnvs: 3 });
    const actor = loaded.agent.policy({
      deterministic: true,
      numEnvs: 3,
      seed: 30_000,
    });
    const again = await evaluate(actor, loaded.env, {
      episodes: 3,
      seed: 30_000,
    });
    assertEquals(again.returns, returns);
    assertEquals(loaded.step, 64);
    const { statistics, scaling } = loaded.normalization.observations!;
    assert(statistics.count > 50);
    // A file scales by itself, as that of the command line does.
    const file = loaded.agent.exportPolicy!();
    assertEquals(file, loaded.agent.exportPolicy!({ scaling }));
    assertStringIncludes(
      new TextDecoder("latin1").decode(file),
      "within the file: (x - mean)",
    );
    loaded.close();
  });
}

Deno.test("a loaded run says what scales its observations", async () => {
  const cases = [
    ["scaled-env", CASES.rollout, "env"],
    ["scaled-agent", CASES.replay, "agent"],
    ["plain", ["a2c", "--set=normalizeObservation=false"], null],
  ] as const;
  for (const [name, args, wanted] of cases) {
    const loaded = await loadRun(await trained(name, ...args));
    assertEquals(loaded.observationsScaledBy, wanted);
    const original = makeVec(loaded.config.env, { numEnvs: 1 });
    const [given, raw] = [loaded.env, original].map((env) =>
      Array.from(env.reset({ seed: 5 }) as Float32Array)
    );
    assertEquals(String(given) === String(raw), wanted !== "env");
    original.close();
    loaded.close();
  }
});

Deno.test("a checkpoint that there is not, and a run that there is not, are refused", async () => {
  const run = await trained("few", "a2c");
  await assertRejects(() => loadRun(run, { checkpoint: 7 }), RangeError);
  await assertRejects(
    () => loadRun(`${dir}/none`),
    RangeError,
    "no such folder",
  );
});
