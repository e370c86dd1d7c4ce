import type {
  Batch,
  EnvSpec,
  Space,
  StateTree,
  Statistics,
  Trainable,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { loadAtomically } from "@bellman/files";
import { checkReset, copySeeds, VEC_RESET } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import { gameOf } from "./make_game.ts";

/** Values by the names of roles. */
export type ByRole<T> = Readonly<Record<string, T>>;

/**
 * Vector environment of a game whose roles learn at the same time, each with a policy of
 * its own. It joins a vector environment of each role, in which its agent takes the seats
 * of that role. Observations and actions are dicts whose entries hold the rows of one
 * role; rewards and ends have these rows one after the other, and masks too.
 *
 * @example
 * ```ts
 * import { RolesVecEnv, SelfPlayVecEnv, TicTacToe } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * // A game with roles "cat" and "mouse" has an entry for each.
 * const world = new TicTacToe({ numEnvs: 8 });
 * const env = new RolesVecEnv({
 *   player: new SelfPlayVecEnv(world, { role: "player" }),
 * });
 * assertEquals(Object.keys(env.reset({ seed: 0 })), ["player"]);
 * ```
 */
export class RolesVecEnv implements VecEnv<Record<string, Batch>> {
  /** Environments of the roles, with as many rows each. */
  readonly roles: ByRole<VecEnv>;
  /** Number of rows of all roles. */
  readonly numEnvs: number;
  /** Dict of the roles' spaces. */
  readonly observationSpace: Space;
  /** Dict of the roles' spaces. */
  readonly actionSpace: Space;
  /** Metadata of the game, if it was made by name. */
  readonly spec?: EnvSpec;
  readonly #envs: readonly [role: string, env: VecEnv][];
  /** Number of rows of a role. */
  readonly #rows: number;
  readonly #rewards: Float64Array;
  readonly #terminated: Uint8Array;
  readonly #truncated: Uint8Array;

  /**
   * Joins environments.
   *
   * @param roles Vector environment of each role.
   * @throws {RangeError} If they have different numbers of rows.
   */
  constructor(roles: ByRole<VecEnv>) {
    const envs = this.#envs = Object.entries(roles);
    const [{ numEnvs, spec }] = Object.values(roles);
    const other = envs.find(([, it]) => it.numEnvs !== numEnvs);
    if (other !== undefined) {
      throw new RangeError(
        `Cannot join roles of ${numEnvs} and ${
          other[1].numEnvs
        } rows: expected as many for ${other[0]}`,
      );
    }
    const joined = (space: "observationSpace" | "actionSpace"): Space => ({
      type: "dict",
      spaces: Object.fromEntries(envs.map(([role, it]) => [role, it[space]])),
    });
    this.roles = roles;
    this.spec = spec;
    this.#rows = numEnvs;
    this.numEnvs = numEnvs * envs.length;
    this.observationSpace = joined("observationSpace");
    this.actionSpace = joined("actionSpace");
    this.#rewards = new Float64Array(this.numEnvs);
    this.#terminated = new Uint8Array(this.numEnvs);
    this.#truncated = new Uint8Array(this.numEnvs);
  }

  /**
   * Names the learners, whose snapshots play the other seats.
   *
   * @param learners Agents whose policy plays all roles.
   */
  play(learners: Pick<Trainable, "policy">): void {
    for (const [, env] of this.#envs) gameOf(env)?.play(learners);
  }

  /** Returns the statistics of each role's games, with the role before their names. */
  statistics(): Statistics {
    return Object.fromEntries(
      this.#envs.flatMap(([role, env]) =>
        Object.entries(gameOf(env)?.statistics() ?? {})
          .map(([name, value]) => [`${role}/${name}`, value])
      ),
    );
  }

  /** Masks of the roles whose actions are masked, one after the other. */
  get actionMasks(): Uint8Array | undefined {
    return joinedMasks(this.#envs.map(([, it]) => it.actionMasks));
  }

  /** Starts the games of all roles. */
  reset(options: VecResetOptions = {}): Record<string, Batch> {
    checkReset(options, VEC_RESET);
    const { seed, ...others } = options, rows = this.#rows;
    const seeds = seed === undefined
      ? undefined
      : copySeeds(seed, this.numEnvs);
    return this.#joined((env, first) =>
      env.reset({
        ...others,
        ...seeds && { seed: seeds.slice(first, first + rows) },
      })
    );
  }

  /** Takes the moves of all roles. */
  step(actions: Batch): VecStep<Record<string, Batch>> {
    const given = actions as Record<string, Batch>;
    const steps = this.#envs.map(([role, env]) => env.step(given[role]));
    const byRole = (entry: "observations" | "finalObservations") =>
      Object.fromEntries(
        this.#envs.map(([role], i) => [role, steps[i][entry]]),
      );
    steps.forEach((it, i) => {
      this.#rewards.set(it.rewards, i * this.#rows);
      this.#terminated.set(it.terminated, i * this.#rows);
      this.#truncated.set(it.truncated, i * this.#rows);
    });
    const isRecorded = steps.every((it) => it.episodes !== undefined);
    return {
      observations: byRole("observations"),
      finalObservations: byRole("finalObservations"),
      rewards: this.#rewards,
      terminated: this.#terminated,
      truncated: this.#truncated,
      actionMasks: joinedMasks(steps.map((it) => it.actionMasks)),
      finalActionMasks: joinedMasks(steps.map((it) => it.finalActionMasks)),
      ...isRecorded && {
        episodes: steps.flatMap(({ episodes }, i) =>
          episodes!.map((it) => ({ ...it, env: it.env + i * this.#rows }))
        ),
      },
    };
  }

  /** Returns the latest observations. */
  observations(): Record<string, Batch> {
    return this.#joined((env) => env.observations());
  }

  #joined(of: (env: VecEnv, first: number) => Batch): Record<string, Batch> {
    return Object.fromEntries(
      this.#envs.map(([role, env], i) => [role, of(env, i * this.#rows)]),
    );
  }

  /** Saves the environments of all roles. */
  save(): StateTree {
    return Object.fromEntries(
      this.#envs.map(([role, env]) => [role, env.save()]),
    );
  }

  /** Restores a state that `save` returned. */
  load(state: StateTree): void {
    const saved = snapshotRecord(state, Object.keys(this.roles));
    loadAtomically(saved, {
      save: () => this.save() as typeof saved,
      load: (it) => this.#envs.forEach(([role, env]) => env.load(it[role])),
    });
  }

  /** Closes the environments of all roles. */
  close(): void {
    for (const [, env] of this.#envs) env.close();
  }
}

/** Joins the masks of the roles that have some. */
function joinedMasks(
  masks: readonly (Uint8Array | undefined)[],
): Uint8Array | undefined {
  const present = masks.filter((it) => it !== undefined);
  if (present.length === 0) return undefined;
  const joined = new Uint8Array(
    present.reduce((sum, it) => sum + it.length, 0),
  );
  let at = 0;
  for (const it of present) {
    joined.set(it, at);
    at += it.length;
  }
  return joined;
}
