/** Every environment of `@bellman/envs` in workers that learn, native ones in processes, too. */
import { AsyncTraining, type AsyncTrainingOptions } from "@bellman/async";
import { selectBackend } from "@bellman/compute";
import { makeVec, registeredIds } from "@bellman/envs";
import type { GroupSource } from "@bellman/envs/workers";
import type { VecEnv } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";
import { runCommand } from "../runs.ts";

await selectBackend("cpu");

/** Those that need no library, which are all until others are imported. */
const OWN = registeredIds();
const { isAtariInstalled } = await import("@bellman/envs/atari");
const { hasGymnasium } = await import("@bellman/envs/gymnasium");
const { isMujocoInstalled } = await import("@bellman/envs/mujoco");

const STEPS = 24;

/** Makes the environment in a process of its own. */
function inProcess(source: GroupSource): GroupSource {
  const module = "../../algorithms/async/testdata/process_env.ts";
  return { module: import.meta.resolve(module), options: { source } };
}

async function learnIn(
  env: VecEnv,
  options: Pick<AsyncTrainingOptions, "source">,
): Promise<void> {
  const notices: string[] = [];
  const training = await AsyncTraining.start("a3c", {
    ...options,
    spaces: env,
    workers: 2,
    // A network of images has its own layers.
    config: env.observationSpace.type === "box" &&
        env.observationSpace.shape.length === 3
      ? { network: "cnn_small" }
      : { hiddenSizes: [8] },
    onNotice: (line) => notices.push(line),
  });
  training.advance(STEPS);
  const state = training.save();
  training.load(state);
  training.advance(STEPS);
  assertEquals([training.steps, notices], [2 * STEPS, []]);
  training.close();
  env.close();
}

/** One of each kind of native ones: they share their library. */
const NATIVE = [
  { id: "ALE/Pong-v5", part: "ALE", isThere: isAtariInstalled() },
  { id: "Hopper-v5", part: "MuJoCo", isThere: isMujocoInstalled() },
];
for (const id of OWN) {
  Deno.test(`A3C learns in workers on ${id}`, () =>
    learnIn(makeVec(id, { numEnvs: 1 }), { source: id }));
}

for (const { id, part, isThere } of NATIVE) {
  for (const processes of [false, true]) {
    Deno.test({
      name: `A3C learns in workers on ${id}${
        processes ? " in processes" : ""
      } [${part}]`,
      ignore: !isThere,
      fn: () =>
        learnIn(makeVec(id, { numEnvs: 1 }), {
          source: processes ? inProcess(id) : id,
        }),
    });
  }
}

Deno.test({
  name:
    "A3C learns in workers on an environment of Gymnasium, in Python [Gymnasium]",
  ignore: !hasGymnasium(),
  fn: async () => {
    const out = await Deno.makeTempDir({ prefix: "bellman-async-" });
    const { code, err } = await runCommand([
      ...["train", "a3c", "--env=gym:CartPole-v1", "--steps=1000"],
      ...["--set=workers=2", "--set=evaluationEpisodes=2", "--quiet"],
      `--out=${out}/run`,
    ]);
    assertEquals(code, 0, err);
    await Deno.remove(out, { recursive: true });
  },
});

for (const how of ["kill", "abort", "exit", "throw"]) {
  Deno.test(`an environment in a process that ends by '${how}' is replaced alone`, async () => {
    const module = import.meta.resolve("./crashing_cart_pole.ts");
    const notices: string[] = [];
    const training = await AsyncTraining.start("a3c", {
      source: inProcess({ module, options: { chances: { [how]: 1 / 400 } } }),
      spaces: makeVec("CartPole-v1", { numEnvs: 1 }),
      onNotice: (line) => notices.push(line),
    });
    training.advance(1000);
    // Its episode is cut, and the worker goes on.
    assertEquals([training.steps, notices], [1000, []]);
    const { shared } = training.save() as { shared: { params: Float32Array } };
    assert(shared.params.every(Number.isFinite));
    training.close();
  });
}
