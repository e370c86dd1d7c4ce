// deno-lint-ignore-file no-console -- warnings go there
/**
 * Long runs of ACKTR with learning rates up to ten times the default: a parameter
 * that is not finite never comes of them, and a step that is skipped says why.
 */
import { ACKTR, type AcktrConfig, defaultAcktrConfig } from "@bellman/acktr";
import { selectBackend } from "@bellman/compute";
import { assert, assertMatch } from "@std/assert";
import {
  IDENTITIES,
  learnOn,
  type ToyTask,
  ToyVecEnv,
} from "../learning/toy_vec_env.ts";

const UPDATES = 1000, NUM_ENVS = 4, SIDE = 36;
const FORMS = ["eigenbasis", "inverse", "ekfac"] as const;
const SEPARATE: Partial<AcktrConfig> = {
  valueNetwork: "separate",
  objective: "separate",
};
const NETWORKS: Readonly<Record<string, Partial<AcktrConfig>>> = {
  "mlp": { hiddenSizes: [16], valueNetwork: "shared" },
  "relu": { activation: "relu", hiddenSizes: [64, 64] },
  "two objectives": { hiddenSizes: [16], ...SEPARATE },
  "lstm": { network: "lstm", lstmSize: 8, valueNetwork: "shared" },
  "lnlstm": { network: "lnlstm", lstmSize: 8, ...SEPARATE },
};

/** Rows of a task, shown as images of one brightness each. */
class ImageVecEnv extends ToyVecEnv {
  override readonly observationSpace = {
    ...{ type: "box", shape: [SIDE, SIDE, 1], low: 0, high: 255 },
    dtype: "uint8",
  } as never;

  #images(seen: Int32Array): never {
    const size = SIDE * SIDE;
    const shown = new Uint8Array(seen.length * size);
    seen.forEach((it, i) => shown.fill(60 * it, i * size, (i + 1) * size));
    return shown as never;
  }

  override reset() {
    return this.#images(super.reset());
  }

  override step(actions: unknown) {
    const step = super.step(actions);
    return {
      ...step,
      observations: this.#images(step.observations),
      finalObservations: this.#images(step.finalObservations),
    };
  }
}

const KINDS = Object.keys(IDENTITIES) as (keyof typeof IDENTITIES)[];
/** Every kind of actions with every network, and images. */
const RUNS = [
  ...Object.keys(NETWORKS).flatMap((network) =>
    KINDS.map((kind) => ({ kind, network, Env: ToyVecEnv }))
  ),
  { kind: "discrete", network: "cnn_small", Env: ImageVecEnv } as const,
];

for (const [seed, { kind, network, Env }] of RUNS.entries()) {
  const kfacForm = FORMS[seed % FORMS.length];
  const times = 1 + seed % 10;
  // Rewards of other sizes than 1 are where values grow.
  const scale = [1, 100, 1e6][Math.floor(seed / 3) % 3];
  const plain: ToyTask = IDENTITIES[kind];
  const env = new Env({
    ...plain,
    reward: (...given) => scale * plain.reward(...given),
  }, NUM_ENVS);
  const config: Partial<AcktrConfig> = {
    numSteps: 5,
    kfacForm,
    learningRate: times * defaultAcktrConfig.learningRate,
    learningRateSchedule: "constant",
    ...NETWORKS[network] ?? { network: "cnn_small", valueNetwork: "shared" },
  };
  const name =
    `${kind}, ${network}, ${kfacForm}, ${times} times the learning rate, rewards up to ${scale}`;
  Deno.test(`parameters stay finite: ${name}`, async () => {
    await selectBackend("wasm");
    const lines: string[] = [], warn = console.warn;
    console.warn = (line: string) => lines.push(line);
    const agent = new ACKTR(env, { seed, config });
    let skipped = 0;
    const update = agent.update.bind(agent);
    agent.update = () => {
      const stats = update();
      skipped += stats?.steps_skipped ?? 0;
      return stats;
    };
    try {
      await learnOn(agent, env, UPDATES);
    } finally {
      console.warn = warn;
    }
    for (const [path, { data }] of Object.entries(agent.params)) {
      assert(data.every(Number.isFinite), path);
    }
    agent.close();
    assert(lines.length > 0 || skipped === 0, `${skipped} steps were skipped`);
    for (const line of lines) {
      assertMatch(
        line,
        /^(Skipped a step of K-FAC: the .* is not finite|Layer '.*' keeps its old inverse: .*)$/,
      );
    }
    if (skipped > 0) console.log(`${skipped} steps skipped: ${lines}`);
  });
}
