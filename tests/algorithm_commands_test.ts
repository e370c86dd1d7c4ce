/** Every algorithm trains, resumes, evaluates, plays and exports. */
import { LIVE_ALGORITHMS } from "./testdata/live_algorithms.ts";
import { assert, assertEquals } from "@std/assert";
import { parse } from "@std/yaml";
import { trainWell } from "./runs.ts";
import { kindsOf, testCommands } from "./testdata/algorithm_commands.ts";

// The other kinds are in `tests/long`.
for (const definition of LIVE_ALGORITHMS) {
  for (const kind of kindsOf(definition).slice(0, 1)) {
    testCommands(definition, kind);
  }
}

const RENAMED: Readonly<Record<string, string>> = {
  env_id: "env",
  num_envs: "numEnvs",
  num_steps: "numSteps",
  discount_factor: "gamma",
  entropy_regularization_strength: "entropyCoefficient",
  baseline_loss_weight: "valueCoefficient",
};

/** A file of settings, by the names of jrobine/actor-critic. */
const BOTH = `
env_id: CartPole-v1
num_envs: 2
num_steps: 5
discount_factor: 0.98
entropy_regularization_strength: 0.02
baseline_loss_weight: 0.4
valueNetwork: separate
hiddenSizes: [8]
evaluationEpisodes: 2
totalTimesteps: 400
`;

Deno.test("a file of settings trains with A2C or with ACKTR by one word", async () => {
  const root = await Deno.makeTempDir({ prefix: "bellman-commands-" });
  try {
    const file = `${root}/both.yaml`;
    await Deno.writeTextFile(file, BOTH);
    const [first, second] = await Promise.all(
      ["a2c", "acktr"].map(async (name) => {
        const run = `${root}/${name}`;
        const given = ["--config", file, "--quiet", "--out", run];
        await trainWell([name, ...given]);
        const text = await Deno.readTextFile(`${run}/config.yaml`);
        return parse(text) as Record<string, unknown>;
      }),
    );
    assertEquals([first.algorithm, second.algorithm], ["a2c", "acktr"]);
    for (const key of Object.keys(parse(BOTH) as object)) {
      const name = RENAMED[key] ?? key;
      assert(name in first, name);
      assertEquals(second[name], first[name]);
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
