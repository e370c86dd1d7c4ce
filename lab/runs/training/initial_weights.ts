import { type Agent, differenceOf, type SavedState } from "@bellman/agent";
import { isStateRecord } from "@bellman/files";
import type { Checkpoint } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { UsageError } from "../program/errors.ts";
import type { RunSetup } from "./run_setup.ts";
import type { Normalization } from "./scaled_environments.ts";

/** Initial weights of a run, from another run. */
export interface InitialWeights {
  /** Source run and step. */
  readonly origin: string;
  /** Parameters and optimizer state. */
  readonly learned: SavedState;
  /** Normalization statistics of observations and rewards, if there are some. */
  readonly scales: { readonly [Name in keyof Normalization]?: StateTree };
  /**
   * Activation function of the policy, which its weights do not show.
   *
   * @default it is not known
   */
  readonly activation?: unknown;
}

const SCALES: readonly (keyof Normalization)[] = ["observations", "rewards"];

/** Returns the learned parts of an agent's state. */
function learnedOf({ algorithm, config }: RunSetup): SavedState {
  const { learned } = algorithm.save() as Record<string, StateTree>;
  if (learned !== undefined) return learned as unknown as SavedState;
  throw new UsageError(
    `Cannot start from the weights of another run with ${config.algorithm}: expected an algorithm of one agent, such as a2c`,
  );
}

/**
 * Copies the weights and normalization statistics of a setup's agent.
 *
 * @param setup Setup of the run.
 * @param origin Run and step, for messages.
 */
export function weightsOf(setup: RunSetup, origin: string): InitialWeights {
  const activation = activationOf(setup.config);
  return {
    ...{ origin, activation },
    learned: learnedOf(setup),
    scales: scalesOf(setup),
  };
}

/** Activation of hidden layers; where bc names none, that of who goes on from it. */
function activationOf(
  { algorithm, activation, policy }: RunSetup["config"],
): unknown {
  if (algorithm !== "bc" || activation !== null) return activation;
  return policy === "actorCritic" ? "tanh" : "relu";
}

/** Saves the normalization statistics. */
function scalesOf({ environments }: RunSetup): Record<string, StateTree> {
  return Object.fromEntries(SCALES.flatMap((name) => {
    const statistics = environments.scales[name]?.statistics.save();
    return statistics === undefined ? [] : [[name, statistics]];
  }));
}

type Part = SavedState[string];

/**
 * Starts a new setup from the weights of another run. Its policy must have the same
 * form; critics, target networks and optimizer state are copied if they fit. Counters,
 * random streams and replay buffer stay the setup's own.
 *
 * @returns A line about what was copied.
 * @throws {UsageError} If the policy has another form.
 */
export function startFrom(setup: RunSetup, weights: InitialWeights): string {
  const { origin, learned } = weights;
  const { algorithm, environments: { scales } } = setup;
  const current = learnedOf(setup);
  const different = differenceOf(current.policy, learned.policy);
  if (different !== undefined) {
    throw new UsageError(
      `Cannot start from ${origin}: its policy has ${different}; use the same spaces, network and normalization`,
    );
  }
  const [own, theirs] = [activationOf(setup.config), weights.activation];
  if (own && theirs && own !== theirs) {
    throw new UsageError(
      `Cannot start from ${origin}: its activation is ${theirs}, expected --set activation=${theirs} here, too`,
    );
  }
  const lacking = SCALES.find((name) =>
    (scales[name] === undefined) !== (weights.scales[name] === undefined)
  );
  if (lacking === "observations") {
    const isScaled = scales.observations !== undefined;
    throw new UsageError(
      `Cannot start from ${origin}: its observations are ${
        isScaled ? "not " : ""
      }scaled, expected normalizeObservation: ${!isScaled} here, too`,
    );
  }
  // An algorithm of one agent, as it has learned parts.
  const kept = (algorithm as unknown as Agent)
    .loadWeights({ learned } as unknown as StateTree);
  for (const name of SCALES) {
    const statistics = weights.scales[name];
    if (statistics !== undefined) scales[name]?.statistics.load(statistics);
  }
  const rest = kept.length === 0 ? "" : `; new are ${kept.join(", ")}`;
  return `Weights: from ${origin}${rest}`;
}

/**
 * Paths of the acting part in states of agents: of one, of workers, of a loop on the
 * device.
 */
const PLACES = [
  ["learned", "policy"],
  ["shared", "params"],
  ["loop", "learned", "policy"],
];

function partAt(state: StateTree, path: readonly string[]): StateTree {
  return path.reduce<StateTree | undefined>(
    (it, key) => isStateRecord(it) ? it[key] : undefined,
    state,
  ) ?? null;
}

/** Returns a state with the part at a path replaced. */
function withPart(
  state: StateTree,
  [key, ...rest]: readonly string[],
  part: StateTree,
): StateTree {
  if (key === undefined) return part;
  const record = state as Record<string, StateTree>;
  return { ...record, [key]: withPart(record[key], rest, part) };
}

/**
 * Extracts from a setup the acting weights and normalization statistics.
 *
 * @example
 * ```ts
 * import { runDirOf } from "@bellman/runs/settings";
 * import { findAgent, sharedState, withAgent } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = runDirOf("zoo:a2c/CartPole-v1");
 * const agent = findAgent(dir, { command: "share", environment: false });
 * const state = await withAgent(agent, (setup) => sharedState(setup));
 * assertEquals(Object.keys(Object(state)), ["weights", "scales"]);
 * ```
 */
export function sharedState(setup: RunSetup): StateTree {
  const saved = setup.algorithm.save();
  const [weights] = PLACES.map((it) => partAt(saved, it))
    .filter((it) => it !== null);
  return { weights, scales: scalesOf(setup) };
}

/** Reads the weights of a shared agent; undefined for others, and for those of workers. */
export function sharedWeights(
  { state }: Checkpoint,
  origin: string,
): InitialWeights | undefined {
  const { weights, scales } = state as Record<string, StateTree>;
  if (!isStateRecord(weights) || !isStateRecord(scales)) return undefined;
  const learned = { policy: weights } as unknown as SavedState;
  return { origin, learned, scales };
}

/**
 * Restores a setup from the weights and statistics of a shared agent.
 *
 * @returns False for a checkpoint of a run.
 * @throws {UsageError} If they are of another policy.
 */
export function restoreShared(
  { algorithm, environments }: RunSetup,
  { state, path }: Checkpoint,
): boolean {
  const { weights, scales } = state as Record<string, StateTree>;
  if (weights === undefined || !isStateRecord(scales)) return false;
  const saved = algorithm.save();
  const place = PLACES.find((it) => partAt(saved, it) !== null)!;
  const current = partAt(saved, place);
  const different = isStateRecord(current)
    ? differenceOf(current as unknown as Part, weights as unknown as Part)
    : undefined;
  if (different !== undefined) {
    throw new UsageError(`Cannot use ${path}: its policy has ${different}`);
  }
  algorithm.load(withPart(saved, place, weights));
  for (const name of SCALES) {
    const statistics = scales[name];
    if (statistics !== undefined) {
      environments.scales[name]?.statistics.load(statistics);
    }
  }
  return true;
}
