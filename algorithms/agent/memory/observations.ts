import { isStateRecord } from "@bellman/files";
import {
  type ExportPolicyOptions,
  mapParts,
  observationBuffer,
  type ObservationEncoder,
  observationEncoder,
  type ObservationInputArrays,
  type Observed,
  partOf,
  type PerPart,
} from "@bellman/policies";
import type { BoxArray, Space, StateTree, VecStep } from "@bellman/types";

/**
 * Running scale of observations, such as
 * `ObservationNormalizer` of `@bellman/envs`.
 */
export interface ObservationScale {
  /** Space of scaled observations. */
  readonly space: Space;
  /** Current scale, for the file of a policy. */
  readonly scaling: NonNullable<ExportPolicyOptions["scaling"]>;
  /** Updates the statistics with observations `[rows, ...]`. */
  see(batch: Observed): void;
  /**
   * Scales observations `[rows, ...]` by the current statistics; of a dict the parts
   * that `scaling` names, and copies the others.
   */
  apply(batch: ObservationInputArrays, target: ObservationInputArrays): void;
  /** Saves the statistics as plain data. */
  save(): StateTree;
  /** Restores what `save` returned. */
  load(state: StateTree): void;
}

/**
 * Running scale of rewards, such as
 * `RewardNormalizer` of `@bellman/envs`.
 */
export interface RewardScale {
  /** Updates the statistics with the rewards of one step `[numEnvs]`. */
  see(
    rewards: ArrayLike<number>,
    ends: { readonly terminated: Uint8Array; readonly truncated: Uint8Array },
  ): void;
  /**
   * Scales rewards by the current statistics; each is a sum that may be as large
   * as `span` rewards.
   */
  scale(rewards: ArrayLike<number>, target: Float32Array, span?: number): void;
  /**
   * Begins the sums of rewards anew, as all environments are reset.
   *
   * @default it has none
   */
  reset?(): void;
  /** Saves the statistics as plain data. */
  save(): StateTree;
  /** Restores what `save` returned. */
  load(state: StateTree): void;
}

/**
 * Scales that an agent applies itself, by the current statistics, when it acts and
 * when it samples a batch. Its environments must not scale as well.
 */
export interface Normalization {
  /**
   * Scale of observations.
   *
   * @default as the environment gives them
   */
  readonly observations?: ObservationScale;
  /**
   * Scale of rewards.
   *
   * @default as the environment gives them
   */
  readonly rewards?: RewardScale;
}

/** Pairs each scale of an agent with its saved statistics. */
export function scalesWith(
  normalization: Normalization,
  { saved, agent }: { readonly saved: StateTree; readonly agent: string },
): [ObservationScale | RewardScale, StateTree][] {
  const held = isStateRecord(saved) ? saved : {};
  return (["observations", "rewards"] as const).flatMap((name) => {
    const scale = normalization[name], state = held[name] ?? null;
    if ((scale === undefined) !== (state === null)) {
      const [own, other] = scale === undefined
        ? ["does not scale", "does"]
        : ["scales", "does not"];
      throw new TypeError(
        `Cannot restore an agent of ${agent} that ${own} ${name} from one that ${other}: expected the same normalization`,
      );
    }
    return scale === undefined ? [] : [[scale, state]];
  });
}

/**
 * Observations as they are stored, and as the policy sees them: the same, or scaled
 * by the current statistics.
 *
 * @example
 * ```ts
 * import { Observations } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const seen = new Observations({ type: "discrete", n: 4 });
 * assertEquals(seen.reader(2)([3, 1]), Int32Array.of(3, 1));
 * ```
 */
export class Observations {
  /** Encoder of the observations that are kept. */
  readonly encoder: ObservationEncoder;
  /** Space that the policy is built for. */
  readonly space: Space;
  readonly #scale: ObservationScale | undefined;

  /**
   * Joins a space with a scale.
   *
   * @param space Space of one observation, as the environment gives it.
   * @param scale Scale of observations; none leaves them as they are.
   * @throws {RangeError} If the scale is one of observations of another size.
   */
  constructor(space: Space, scale?: ObservationScale) {
    this.encoder = observationEncoder(space);
    this.space = scale?.space ?? space;
    this.#scale = scale;
    const { observationSize: size } = this.encoder;
    const scaled = observationEncoder(this.space).observationSize;
    if (scaled !== size) {
      throw new RangeError(
        `Cannot normalize observations of ${size} numbers by statistics of ${scaled}: expected those of the same space`,
      );
    }
  }

  /**
   * Creates arrays of the types that observations are stored in.
   *
   * @param rows Number of observations.
   * @returns A new array, or one for each part, all 0.
   */
  buffer(rows: number): ObservationInputArrays {
    return observationBuffer(this.encoder, rows);
  }

  /**
   * Updates the statistics with observations that training acts on.
   *
   * @param observations Observations `[rows, ...]`.
   */
  see(observations: Observed): void {
    this.#scale?.see(observations);
  }

  /**
   * Returns a function from stored observations to those that the policy sees.
   *
   * @param rows Number of observations.
   * @returns A function that returns its argument or, scaled, an array that
   * its next call overwrites.
   */
  view(rows: number): (kept: ObservationInputArrays) => ObservationInputArrays {
    const scale = this.#scale;
    if (scale === undefined) return (kept) => kept;
    const scaled = observationBuffer(observationEncoder(this.space), rows);
    return (kept) => {
      scale.apply(kept, scaled);
      return scaled;
    };
  }

  /**
   * Returns a function from the environment's observations to those that the
   * policy sees.
   *
   * @param rows Number of observations.
   * @returns A function whose next call overwrites the arrays.
   */
  reader(rows: number): (given: Observed) => ObservationInputArrays {
    const kept = this.buffer(rows), view = this.view(rows);
    return (given) => view(this.encoder.observationArray(given, kept));
  }
}

/**
 * Returns the true observations after a step: the last ones of episodes that ended.
 *
 * @param step The step, of environments whose observations are arrays, or a dict of
 * them.
 * @returns Observations `[numEnvs, ...]`: those of the step, or a copy where an
 * episode ended.
 *
 * @example
 * ```ts
 * import { nextObservations } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const next = nextObservations({
 *   observations: Float32Array.of(1, 2),
 *   finalObservations: Float32Array.of(8, 9),
 *   rewards: new Float64Array(2),
 *   terminated: Uint8Array.of(0, 1),
 *   truncated: Uint8Array.of(0, 0),
 * });
 * assertEquals(next, Float32Array.of(1, 9));
 * ```
 */
export function nextObservations(step: VecStep): PerPart<BoxArray> {
  const final = step.finalObservations as PerPart<BoxArray>;
  return mapParts(
    step.observations as PerPart<BoxArray>,
    (now, name) => withFinal(step, { now, final: partOf(final, name) }),
  );
}

/**
 * Returns the masks of {@link nextObservations}.
 *
 * @throws {TypeError} If the step has none.
 */
export function nextActionMasks(step: VecStep, size: number): Uint8Array {
  const { actionMasks: now, finalActionMasks: final } = step;
  if (now !== undefined && final !== undefined) {
    return withFinal(step, { now, final });
  }
  throw new TypeError(
    `Cannot record a step without ${
      now ? "finalActionMasks" : "actionMasks"
    }: expected ${size} numbers for each environment, as actions are masked`,
  );
}

/** Takes the final rows of episodes that ended; copies where there are any. */
function withFinal<T extends BoxArray>(
  { terminated, truncated }: VecStep,
  { now, final }: { readonly now: T; readonly final: T },
): T {
  const size = now.length / terminated.length;
  let merged: T | undefined;
  for (let i = 0; i < terminated.length; i++) {
    if (!(terminated[i] || truncated[i])) continue;
    merged ??= now.slice() as T;
    merged.set(final.subarray(i * size, (i + 1) * size), i * size);
  }
  return merged ?? now;
}
