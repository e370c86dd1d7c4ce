/**
 * Cost of ACKTR's updates compared with A2C's, for the same network and batch: agents
 * take turns, each for a whole period of inversions, in processor time, which
 * depends less on the machine's load. Run with
 * `taskset -c 1 deno task bench algorithms/kfac`.
 */
import process from "node:process";
import { A2C } from "@bellman/a2c";
import { ACKTR, type AcktrConfig, defaultAcktrConfig } from "@bellman/acktr";
import { selectBackend } from "@bellman/compute";

await selectBackend("wasm");

const { numSteps, invertEvery, coldUpdates } = defaultAcktrConfig;

interface Network {
  readonly network: "mlp" | "cnn";
  readonly numEnvs: number;
  readonly valueNetwork: "shared" | "separate";
  readonly rounds: number;
}

/** Networks by name, with batches of `20 numEnvs` rows. */
const NETWORKS: Record<string, Network> = {
  "two networks 64-64, batch 640": {
    network: "mlp",
    numEnvs: 32,
    valueNetwork: "separate",
    rounds: 40,
  },
  "two networks 64-64, batch 160": {
    network: "mlp",
    numEnvs: 8,
    valueNetwork: "separate",
    rounds: 40,
  },
  "Nature CNN, batch 640": {
    network: "cnn",
    numEnvs: 32,
    valueNetwork: "shared",
    rounds: 3,
  },
};

/** ACKTR with its defaults, and with cheaper inverses. */
const VARIANTS: Record<string, Partial<AcktrConfig>> = {
  "ACKTR": {},
  "ACKTR, kfacForm: inverse": { kfacForm: "inverse" },
};

const IMAGE = {
  type: "box",
  shape: [84, 84, 4],
  low: 0,
  high: 255,
  dtype: "uint8",
} as const;
const NUMBERS = {
  type: "box",
  shape: [4],
  low: -1,
  high: 1,
  dtype: "float32",
} as const;

/** One objective and one optimizer of A2C, as in the original. */
const RMSPROP = { optimizer: "rmsprop_tf1", objective: "shared" } as const;

/** Returns the processor time of this process in milliseconds. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Returns a function that collects a rollout and returns the time of its update. */
function updating(
  name: string,
  { network, numEnvs, valueNetwork }: Network,
): { update(): number; close(): void } {
  const observationSpace = network === "cnn" ? IMAGE : NUMBERS;
  const spaces = {
    observationSpace,
    actionSpace: { type: "discrete", n: network === "cnn" ? 6 : 2 } as const,
    numEnvs,
  };
  const common = { network, valueNetwork, numSteps };
  const engine = { engine: "onnx", threads: 1 } as const;
  const agent = name === "A2C"
    ? new A2C(spaces, { ...engine, config: { ...common, ...RMSPROP } })
    : new ACKTR(spaces, {
      ...engine,
      config: { ...common, ...VARIANTS[name] },
    });
  const size = observationSpace.shape.reduce((a: number, b) => a * b, numEnvs);
  const observations = network === "cnn"
    ? Uint8Array.from({ length: size }, (_, i) => 128 + 127 * Math.sin(i * i))
    : Float32Array.from({ length: size }, (_, i) => Math.sin(i * i));
  const step = {
    observations,
    finalObservations: observations,
    rewards: Float64Array.from({ length: numEnvs }, (_, i) => Math.cos(i)),
    terminated: new Uint8Array(numEnvs),
    truncated: new Uint8Array(numEnvs),
  };
  return {
    update() {
      for (let i = 0; i < numSteps; i++) {
        agent.act(observations);
        agent.observe(step);
      }
      const start = processorTime();
      agent.update();
      return processorTime() - start;
    },
    close: () => agent.close(),
  };
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

/** Formats a median and the spread about it. */
function told(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b);
  const [least, middle, most] = [0.25, 0.5, 0.75]
    .map((it) => sorted[Math.floor(it * (sorted.length - 1))].toFixed(2));
  return `${middle} (quarters ${least} to ${most})`;
}

function measure(title: string, network: Network): void {
  const names = ["A2C", ...Object.keys(VARIANTS)];
  const agents = names.map((name) => updating(name, network));
  // Past the cold updates, and through all programs.
  for (const agent of agents) {
    for (let i = 0; i <= coldUpdates + 2 * invertEvery; i++) agent.update();
  }
  const rounds = Array.from(
    { length: network.rounds },
    () =>
      agents.map(({ update }) => Array.from({ length: invertEvery }, update)),
  );
  const mean = (times: readonly number[]) =>
    times.reduce((sum, it) => sum + it) / times.length;
  const lines = names.map((name, k) => {
    const each = rounds.map((of) => mean(of[k]));
    const ratios = rounds.map((of) => mean(of[k]) / mean(of[0]));
    const between = rounds.map((of) => medianOf(of[k]) / medianOf(of[0]));
    return `${name}: ${medianOf(each).toFixed(3)} ms, of A2C's ` +
      `${told(ratios)}, between inversions ${told(between)}`;
  });
  // deno-lint-ignore no-console -- the bench prints
  console.log([`${title}:`, ...lines].join("\n  "));
  for (const agent of agents) agent.close();
}

for (const [title, network] of Object.entries(NETWORKS)) {
  let hasRun = false;
  Deno.bench({
    name: `updates of ACKTR and A2C: ${title}`,
    n: 1,
    warmup: 0,
    fn: () => {
      // It has its own rounds, and is called more than once.
      if (!hasRun) measure(title, network);
      hasRun = true;
    },
  });
}
