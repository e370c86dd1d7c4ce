import {
  decodeFrameStacks,
  PrioritizedReplayBuffer,
  SequenceReplayBuffer,
  SumTree,
} from "@bellman/buffers";
import { checkEach, type Comparison, flat } from "./comparison.ts";

/** The fixture's numbers have twelve digits; batches and weights are float32. */
const TOLERANCE = 1e-9;
const FLOAT32 = { tolerance: 1e-6 };
const EXACTLY = { tolerance: 0 };

interface StackCase {
  name: string;
  inputs: {
    enc_obs: number[][][][][];
    dones: number[][];
    nsteps: number;
    nstack: number;
  };
  expected: { stacked: number[][][][][] };
}

function runStack({ inputs, expected }: StackCase, comparison: Comparison) {
  const { enc_obs, dones, nsteps, nstack } = inputs;
  const frame = enc_obs[0][0];
  const shape = [frame.length, frame[0].length, frame[0][0].length];
  const stacks = decodeFrameStacks(
    Uint8Array.from(flat(enc_obs)),
    flat(dones),
    { shape, stack: nstack, numSteps: nsteps },
  );
  comparison.numbers("stacked", stacks, expected.stacked, EXACTLY);
  const { drawn, kept } = drawStacks(inputs, shape);
  comparison.numbers("drawn", drawn, expected.stacked, EXACTLY);
  comparison.numbers("frames kept", kept, flat(enc_obs).length, EXACTLY);
}

/** The same stacks out of a buffer, and the numbers that it keeps for them. */
function drawStacks(
  { enc_obs, dones, nsteps, nstack }: StackCase["inputs"],
  shape: number[],
) {
  const buffer = new SequenceReplayBuffer({
    capacity: nsteps,
    numSteps: nsteps,
    numEnvs: dones.length,
    fields: {
      frame: { shape, dtype: "uint8" },
      done: { shape: [], dtype: "uint8" },
    },
    extraSteps: { frame: 1 },
    stack: { frame: nstack },
    ends: ["done"],
  });
  buffer.add({ frame: flat(enc_obs), done: flat(dones) });
  const { frame } = buffer.sample({ integer: () => 0 });
  return {
    drawn: frame as Uint8Array,
    kept: buffer.byteLength - flat(dones).length,
  };
}

interface RingCase {
  inputs: {
    size: number;
    nsteps: number;
    nenv: number;
    rewards_put: number[][][];
    take_idx: number[];
  };
  expected: {
    capacity_slots: number;
    log: {
      next_idx: number;
      num_in_buffer: number;
      has_atleast: Record<string, boolean>;
    }[];
    rewards_by_slot: number[][][];
    taken_rewards: number[][];
  };
}

function runRing({ inputs, expected }: RingCase, comparison: Comparison) {
  const { size, nsteps, nenv, rewards_put, take_idx } = inputs;
  const buffer = new SequenceReplayBuffer({
    capacity: size,
    numSteps: nsteps,
    numEnvs: nenv,
    fields: { reward: { shape: [], dtype: "float64" } },
  });
  comparison.that("capacity", buffer.capacity === expected.capacity_slots);
  rewards_put.forEach((rewards, i) => {
    buffer.add({ reward: flat(rewards) });
    const log = expected.log[i];
    const next = buffer.save().total / nenv % buffer.capacity;
    comparison.that(`next ${i}`, next === log.next_idx);
    comparison.that(`length ${i}`, buffer.length === log.num_in_buffer);
    for (const [frames, holds] of Object.entries(log.has_atleast)) {
      const found = buffer.hasAtLeast(Number(frames));
      comparison.that(`has ${frames} after ${i}`, found === holds);
    }
  });
  comparison.numbers(
    "rewards",
    buffer.save().fields.reward as Float64Array,
    expected.rewards_by_slot,
  );
  const taken = buffer.gather(take_idx.map((slot, env) => slot * nenv + env));
  comparison.numbers(
    "taken",
    taken.reward as Float64Array,
    expected.taken_rewards,
  );
}

interface PrioritizedCase {
  inputs: {
    capacity: number;
    n_added: number;
    alpha: number;
    beta: number;
    priorities_set: number[];
    uniform_draws: number[];
    prefix_queries: number[];
  };
  expected: {
    length: number;
    leaf_values: number[];
    sum_all: number;
    min: number;
    max_priority: number;
    prefix_idx: number[];
    sampled_idxes: number[];
    is_weights: number[];
  };
}

function runTree(
  { inputs, expected }: PrioritizedCase,
  comparison: Comparison,
) {
  const tree = new SumTree(inputs.capacity);
  tree.load(expected.leaf_values);
  for (
    const [name, found, wanted] of [
      ["sum", tree.total, expected.sum_all],
      ["min", tree.min, expected.min],
      // There it is of all rows so far, and 1 at first.
      ["max", Math.max(1, tree.max), expected.max_priority ** inputs.alpha],
    ] as const
  ) {
    comparison.numbers(name, found, wanted);
  }
  const found = new Int32Array(inputs.prefix_queries.length);
  tree.findMany(inputs.prefix_queries, found);
  comparison.numbers("found", found, expected.prefix_idx, EXACTLY);
}

function runPrioritized(
  { inputs, expected }: PrioritizedCase,
  comparison: Comparison,
) {
  const { capacity, n_added, alpha, beta, uniform_draws } = inputs;
  const buffer = new PrioritizedReplayBuffer({
    capacity,
    fields: { row: { shape: [], dtype: "int32" } },
    alpha,
    beta,
    excludeLast: true,
    weightsOver: "buffer",
  });
  for (let i = 0; i < n_added; i++) buffer.add({ row: [i] });
  comparison.that("length", buffer.length === expected.length);
  buffer.updatePriorities(
    inputs.priorities_set.map((_, slot) => slot),
    inputs.priorities_set,
  );
  const draws = uniform_draws.values();
  const random = { uniform: () => draws.next().value!, integer: () => 0 };
  const batch = buffer.sample(random, { size: uniform_draws.length });
  comparison.numbers("slots", batch.slots, expected.sampled_idxes, EXACTLY);
  comparison.numbers("weights", batch.weights, expected.is_weights, FLOAT32);
  const { sampler } = buffer.save();
  const { leaves } = sampler as { leaves: Float64Array };
  comparison.numbers(
    "leaves",
    leaves.subarray(0, expected.length),
    expected.leaf_values,
  );
}

/** Segments with their frames, and prioritized sampling. */
export const runner = checkEach({
  acer_stack_decode: runStack,
  acer_ring: runRing,
  prioritized(it, comparison) {
    runTree(it, comparison);
    runPrioritized(it, comparison);
  },
}, TOLERANCE);
