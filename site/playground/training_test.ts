import { selectBackend } from "@bellman/compute";
import { loadStateSync } from "@bellman/files";
import { assertEquals } from "@std/assert";
import { runCommand, stateOf } from "../../tests/runs.ts";
import { resolveTask } from "./settings.ts";
import { Training } from "./training.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-training-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

/** Compares files without the difference that long ones would print. */
function assertBytes(actual: Uint8Array, expected: Uint8Array): void {
  assertEquals(actual.length, expected.length);
  assertEquals(actual.findIndex((it, i) => it !== expected[i]), -1);
}

/** Short runs of both algorithms, and further settings. */
const RUNS = {
  a2c: ["Acrobot-v1", { seed: 3, totalTimesteps: 1500 }, {}],
  sac: ["Pendulum-v1", { seed: 4, totalTimesteps: 100 }, {
    learningStarts: 40,
    batchSize: 8,
    bufferSize: 1000,
    hiddenSizes: [8],
    learningRate: 0.001,
  }],
} as const;

for (const [name, [env, given, further]] of Object.entries(RUNS)) {
  const begin = () =>
    new Training(resolveTask(env, given, JSON.stringify(further)));
  const whole = async () => {
    // Commands select others.
    await selectBackend("wasm");
    const training = begin();
    await training.run({ signal: new AbortController().signal });
    return training;
  };

  Deno.test(`pauses and being watched change nothing: ${name}`, async () => {
    const expected = await whole();
    const training = begin(), pause = new AbortController();
    const { totalTimesteps } = given;
    await training.run({
      signal: pause.signal,
      onStep: async ({ step }) => {
        if (step % 20 === 0) await training.watch(2);
        if (step > totalTimesteps / 2) pause.abort();
      },
    });
    assertEquals(training.savedStep < totalTimesteps, true);
    await training.run({ signal: new AbortController().signal });
    assertBytes(training.policyFile(), expected.policyFile());
    assertBytes(
      await training.checkpointFile(),
      await expected.checkpointFile(),
    );
  });

  Deno.test(`policy and state are those of the command line: ${name}`, async () => {
    const training = await whole(), run = `${dir}/${name}`;
    const trained = await runCommand([
      ...["train", name, `--env=${env}`, `--seed=${given.seed}`, "--quiet"],
      ...[`--steps=${given.totalTimesteps}`, `--out=${run}`, "--backend=wasm"],
      "--set=evaluationInterval=0",
      ...Object.entries(further).map(([key, it]) =>
        `--set=${key}=${JSON.stringify(it)}`
      ),
    ]);
    assertEquals(trained.code, 0, trained.err);
    const out = `${dir}/${name}.onnx`;
    const exported = await runCommand(["export", run, `--out=${out}`]);
    assertEquals(exported.code, 0, exported.err);
    assertBytes(training.policyFile(), await Deno.readFile(out));

    const file = `${dir}/${name}.safetensors`;
    await Deno.writeFile(file, await training.checkpointFile());
    type State = Record<string, Record<string, unknown>>;
    const own = loadStateSync(file).state as State;
    const theirs = stateOf(run, "latest") as State;
    assertEquals(own.algorithm, theirs.algorithm);
    assertEquals(own.env, theirs.env);
  });
}
