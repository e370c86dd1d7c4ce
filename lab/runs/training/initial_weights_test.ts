import { CheckpointStore } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { capture, type Captured } from "../../../cli/testdata/capture.ts";
import { loadRun } from "./load_run.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-weights-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

function train(name: string, ...args: string[]): Promise<Captured> {
  return capture(
    ...["train", ...args, "--backend=cpu", "--steps=40", "--preset=none"],
    ...[
      "--set=hiddenSizes=[8]",
      "--set=evaluationEpisodes=1",
      "--set=evaluationInterval=40",
      `--out=${dir}/${name}`,
    ],
  );
}

/** The parameters and counters of a run's first checkpoint or its best one. */
function learnedAt(name: string, which: 0 | "best"): Record<string, StateTree> {
  const { state } = new CheckpointStore(`${dir}/${name}/checkpoints`).load(
    which,
  );
  const { algorithm } = state as Record<string, Record<string, StateTree>>;
  return algorithm;
}

const SCALED = [
  ...["--set=normalizeObservation=true", "--set=numSteps=5"],
  "--set=numEnvs=2",
];
const first = await train("first", "a2c", ...SCALED);
assertEquals(first.code, 0, first.err);

Deno.test("a run starts from another's weights and scales, and counts from 0", async () => {
  const { code, out } = await train(
    "second",
    ...["a2c", ...SCALED, `--init-from=${dir}/first`],
    ...["--seed=5", "--set=learningRate=1e-9", "--set=keepCheckpoints=9"],
  );
  assertEquals(code, 0);
  assertStringIncludes(out, `Weights: from ${dir}/first, step 40\n`);
  const [from, start] = [learnedAt("first", "best"), learnedAt("second", 0)];
  assertEquals(start.learned, from.learned);
  assertEquals([start.steps, start.updates], [0, 0]);
  const [before, after] = await Promise.all(
    ["first", "second"].map((name) => loadRun(`${dir}/${name}`)),
  );
  const counts = [before, after].map((it) =>
    it.normalization.observations!.statistics.count
  );
  assert(counts[1] > counts[0], `${counts}`);
  before.close();
  after.close();
});

Deno.test("what does not fit is new, and a line says so", async () => {
  const { code, out, err } = await train(
    "third",
    ...["a2c", ...SCALED, `--init-from=${dir}/first`],
    "--set=optimizer=rmsprop",
  );
  assertEquals(code, 0, err);
  assertStringIncludes(out, `Weights: from ${dir}/first, step 40; new are `);
});

Deno.test("another policy, other scales and workers are one clear line", async () => {
  const cases: Record<string, string[]> = {
    "its policy has ": ["a2c", ...SCALED, "--env=Acrobot-v1"],
    "its observations are scaled, expected normalizeObservation: true here, too":
      [
        ...["a2c", "--set=numSteps=5", "--set=numEnvs=2"],
        "--set=normalizeObservation=false",
      ],
    "Cannot start from the weights of another run with a3c": [
      "a3c",
      "--workers=1",
    ],
  };
  for (const [says, args] of Object.entries(cases)) {
    const from = `--init-from=${dir}/first`;
    const { code, err } = await train("never", ...args, from);
    assertEquals([code, err.trimEnd().split("\n").length], [2, 1], err);
    assertStringIncludes(err, says);
  }
  const none = await train("never", "a2c", `--init-from=${dir}/none`);
  assertEquals(none.code, 2);
  assertStringIncludes(none.err, "there is no such folder");
});

Deno.test("another activation is refused, as its weights would fit", async () => {
  const args = ["a2c", ...SCALED, `--init-from=${dir}/first`];
  const { code, err } = await train("relu", ...args, "--set=activation=relu");
  assertEquals([code, err], [
    2,
    `error: Cannot start from ${dir}/first, step 40: its activation is tanh, expected --set activation=tanh here, too\n`,
  ]);
});
