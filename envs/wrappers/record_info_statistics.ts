import type {
  ActionsOf,
  Env,
  EpisodeStatistics,
  InfoStatistic,
  ObservationsOf,
  StateTree,
  StepResult,
} from "@bellman/types";
import { EnvDataError, faultOf } from "../env_data_error.ts";
import { snapshotRecord } from "../snapshot.ts";
import { type StepOf, Wrapper } from "./wrapper.ts";

const NONE: readonly EpisodeStatistics[] = [];

/**
 * Sums up numbers of an environment's `info`: the episodes that end have sum, mean
 * and last of each over the steps that told it, which may be the last one alone,
 * beside return and length. True and false count as 1 and 0. An entry that no step
 * of an episode told is left out, and the first such episode has a `notice` of it.
 * It belongs outside what ends episodes; where the environment inside records
 * its episodes, as games with several lives do, they are added to those.
 *
 * @typeParam E Environment inside.
 *
 * @example
 * ```ts
 * import { ChainEnv, RecordInfoStatistics, Wrapper } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * class Priced extends Wrapper {
 *   override step(action: number) {
 *     return { ...super.step(action), info: { price: 10 - action } };
 *   }
 * }
 * const env = new RecordInfoStatistics(new Priced(new ChainEnv({ length: 2 })), [
 *   "price",
 * ]);
 * env.reset({ seed: 0 });
 * env.step(0);
 * const price = { sum: 20, mean: 10, last: 10 };
 * const episode = { return: 2, length: 2, terminated: true };
 * assertEquals(env.step(0).info?.episodes, [{ ...episode, infoStatistics: { price } }]);
 * ```
 */
export class RecordInfoStatistics<E extends Env = Env> extends Wrapper<E> {
  readonly #names: readonly string[];
  /** Entries whose lack was told. */
  readonly #noticed = new Set<string>();
  #sums: Float64Array;
  #last: Float64Array;
  /** Steps of the episode that had an entry. */
  #counts: Float64Array;
  #return = 0;
  #length = 0;
  /** The environment inside records its episodes, which may be longer. */
  #recordsInside = false;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   * @param names Entries of its `info`.
   */
  constructor(env: E, names: readonly string[]) {
    super(env);
    this.#names = names;
    this.#sums = new Float64Array(names.length);
    this.#last = new Float64Array(names.length);
    this.#counts = new Float64Array(names.length);
  }

  /**
   * Starts an episode.
   *
   * @param options Seed that restarts the random stream.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): ObservationsOf<E> {
    const observation = super.reset(options as never);
    // Lives of a game are no episodes of their own.
    if (options?.seed !== undefined || !this.#recordsInside) this.#begin();
    return observation;
  }

  #begin(): void {
    this.#sums.fill(0);
    this.#counts.fill(0);
    this.#return = this.#length = 0;
  }

  /**
   * Takes one step.
   *
   * @param action Action to take.
   * @returns The step's result with the episodes that ended.
   * @throws {EnvDataError} If an entry is no finite number.
   */
  override step(action: ActionsOf<E>): StepOf<E, ObservationsOf<E>> {
    return this.#recorded(super.step(action)) as never;
  }

  #recorded(result: StepResult): StepResult {
    const { terminated, truncated, info = {} } = result;
    this.#names.forEach((name, i) => {
      if (info[name] === undefined) return;
      this.#last[i] = this.#numberOf(info, name);
      this.#sums[i] += this.#last[i];
      this.#counts[i]++;
    });
    this.#return += result.reward;
    this.#length++;
    this.#recordsInside = Array.isArray(info.episodes);
    const ended = this.#recordsInside
      ? info.episodes as EpisodeStatistics[]
      : terminated || truncated
      ? [{ return: this.#return, length: this.#length, terminated }]
      : NONE;
    if (ended.length === 0) {
      return { ...result, info: { ...info, episodes: NONE } };
    }
    const told = { infoStatistics: this.#statistics(), ...this.#notice(info) };
    const episodes = ended.map((it) => ({ ...it, ...told }));
    this.#begin();
    return { ...result, info: { ...info, episodes } };
  }

  #numberOf(info: Readonly<Record<string, unknown>>, name: string): number {
    const given = info[name];
    const value = typeof given === "boolean" ? Number(given) : given;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    const fault = faultOf(`info.${name}`, given, "a finite number");
    throw new EnvDataError(fault, { id: this.spec?.id });
  }

  /** Tells of entries that no step of the episode told, once for each. */
  #notice(info: object): { notice?: string } {
    const untold = this.#names.filter((name, i) =>
      this.#counts[i] === 0 && !this.#noticed.has(name)
    );
    if (untold.length === 0) return {};
    for (const name of untold) this.#noticed.add(name);
    const names = Object.keys(info).filter((it) => it !== "episodes");
    const notice = `No step of an episode had info.${
      untold.join(", info.")
    }, which is left out of its record: the info had ${
      names.join(", ") || "no entries"
    }`;
    return { notice };
  }

  #statistics(): Record<string, InfoStatistic> {
    const all = this.#names.map((name, i): [string, InfoStatistic] => [name, {
      sum: this.#sums[i],
      mean: this.#sums[i] / this.#counts[i],
      last: this.#last[i],
    }]);
    return Object.fromEntries(all.filter((_, i) => this.#counts[i] > 0));
  }

  /**
   * Saves the sums so far.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return {
      sums: this.#sums.slice(),
      last: this.#last.slice(),
      counts: this.#counts.slice(),
      return: this.#return,
      length: this.#length,
      recordsInside: this.#recordsInside,
    };
  }

  /**
   * Restores sums.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const keys = ["sums", "last", "return", "length", "recordsInside"];
    const own = snapshotRecord(state, keys);
    this.#sums.set(own.sums as Float64Array);
    this.#last.set(own.last as Float64Array);
    // Before there were counts, each step told each entry.
    if (own.counts === undefined) this.#counts.fill(own.length as number);
    else this.#counts.set(own.counts as Float64Array);
    this.#return = own.return as number;
    this.#length = own.length as number;
    this.#recordsInside = own.recordsInside as boolean;
  }
}
