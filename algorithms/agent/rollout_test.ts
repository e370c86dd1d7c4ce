import { a2c } from "@bellman/a2c";
import { type Engine, RandomStream, selectBackend } from "@bellman/compute";
import { isXlaInstalled } from "@bellman/compute/xla";
import type { StateTree } from "@bellman/types";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { generalizedAdvantageEstimation } from "@bellman/returns";
import { Agent } from "./agent.ts";
import type { RolloutOptions } from "./rollout.ts";

await selectBackend("cpu");

const NUM_ENVS = 3, NUM_STEPS = 4;

function agentOf(engine: Engine, bootstrapTruncated: boolean) {
  return new Agent(a2c, {
    observationSpace: {
      type: "box",
      shape: [2],
      low: -9,
      high: 9,
      dtype: "float32",
    },
    actionSpace: { type: "discrete", n: 3 },
    numEnvs: NUM_ENVS,
  }, {
    engine,
    seed: 3,
    config: {
      numSteps: NUM_STEPS,
      hiddenSizes: [8],
      valueNetwork: "separate",
      normalizeAdvantage: false,
      gaeLambda: 0.9,
      bootstrapTruncated,
    },
  });
}

/** A step whose episodes end in both ways. */
function drawStep(random: RandomStream) {
  const normal = () => random.fillNormal(new Float32Array(2 * NUM_ENVS));
  const flags = () =>
    Uint8Array.from(
      { length: NUM_ENVS },
      () => Number(random.integer(3) === 0),
    );
  return {
    observations: normal(),
    finalObservations: normal(),
    rewards: Float64Array.from({ length: NUM_ENVS }, () => random.integer(5)),
    terminated: flags(),
    truncated: flags(),
  };
}

/** Takes steps until an update is ready. */
function collect(agent: ReturnType<typeof agentOf>, random: RandomStream) {
  for (let i = 0; i < NUM_STEPS; i++) {
    agent.act(random.fillNormal(new Float32Array(2 * NUM_ENVS)));
    agent.observe(drawStep(random));
  }
}

function lastValuesOf(agent: ReturnType<typeof agentOf>): Float32Array {
  const { experience } = agent.save() as Record<string, StateTree>;
  return (experience as Record<string, Float32Array>).lastValues;
}

for (const engine of ["eager", "xla"] as const) {
  for (const bootstrapTruncated of [true, false]) {
    const kind = bootstrapTruncated ? "with" : "without";
    Deno.test({
      name:
        `values of a rollout are the same on each engine, ${kind} those of cut episodes ${
          engine === "xla" ? "[XLA]" : `(${engine})`
        }`,
      ignore: engine === "xla" && !isXlaInstalled(),
      fn() {
        const agents = ([engine, "onnx"] as const)
          .map((it) => agentOf(it, bootstrapTruncated));
        const [random, again] = [7, 7].map((seed) => new RandomStream(seed));
        const [agent, other] = agents;
        for (let i = 0; i < 3; i++) {
          collect(agent, random);
          collect(other, again);
          // A full rollout of either engine is restored by the other.
          if (i === 2) {
            const [first, second] = [agent.save(), other.save()];
            agent.load(second);
            other.load(first);
          }
          const made = agent.update()!, wanted = other.update()!;
          assertEquals(Object.keys(made).sort(), Object.keys(wanted).sort());
          for (const name in wanted) {
            assertAlmostEquals(made[name], wanted[name], 1e-4, name);
          }
          const [values, expected] = agents.map(lastValuesOf);
          expected.forEach((it, env) => {
            assert(it !== 0);
            assertAlmostEquals(values[env], it, 1e-4);
          });
        }
        for (const it of agents) it.close();
      },
    });
  }
}

Deno.test("a rollout that was saved without the last observations goes on", () => {
  const random = new RandomStream(7);
  const agent = agentOf("eager", true), other = agentOf("eager", true);
  agent.act(random.fillNormal(new Float32Array(2 * NUM_ENVS)));
  agent.observe(drawStep(random));
  const saved = agent.save() as Record<string, Record<string, StateTree>>;
  const { lastObservations: _, ...experience } = saved.experience;
  other.load({ ...saved, experience });
  const { experience: restored } = other.save() as typeof saved;
  assertEquals({ ...restored, lastObservations: _ }, saved.experience);
  agent.close();
  other.close();
});

Deno.test("advantages are inputs of a rollout as they are", () => {
  // That it passes the type check is the point: records, not interfaces.
  const options: RolloutOptions = {
    numSteps: 2,
    values: "end",
    inputs: ["advantages", "returns"],
    targets: (data) => ({ inputs: generalizedAdvantageEstimation(data, data) }),
  };
  const { inputs } = options.targets({
    numEnvs: 1,
    numSteps: 2,
    rewards: Float64Array.of(1, 1),
    terminated: Uint8Array.of(0, 1),
    truncated: new Uint8Array(2),
    values: new Float32Array(2),
    finalValues: new Float32Array(2),
    lastValues: new Float32Array(1),
  });
  assertEquals(Object.keys(inputs), options.inputs);
});
