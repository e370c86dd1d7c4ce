/** A world among others that step together: its rows, its random stream, its episode. */
import type { Space } from "@bellman/types";
import { RandomStream } from "./random.ts";
import { choicesOf, type GameValue, joined, Rows, spread } from "./rows.ts";
import type {
  GameParameters,
  GameStep,
  GameWorld,
  WatchedStep,
} from "./world.ts";

/** Finds out if a value is a promise, of any realm. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === "function";
}

/** Numbers of all worlds. */
export class Numbers {
  readonly actions: Rows;
  readonly observations: Rows;
  /** Last observations of the rows that ended. */
  readonly finals: Rows;
  readonly masks?: Rows;
  readonly rewards: Rows;
  /** Rows that are terminated, then those that are truncated. */
  readonly ends: Rows;

  constructor(
    { observationSpace, actionSpace, actionMasks }: GameWorld,
    readonly rows: number,
  ) {
    // Rows refuse what is none.
    const [seen, acted] = [observationSpace, actionSpace] as Space[];
    const bits = (n: number) => ({ type: "multiBinary", n }) as const;
    this.actions = new Rows(acted, rows);
    this.observations = new Rows(seen, rows);
    this.finals = new Rows(seen, rows);
    if (actionMasks) this.masks = new Rows(bits(choicesOf(acted)), rows);
    this.rewards = new Rows({
      ...{ type: "box", dtype: "float64", shape: [], low: 0, high: 0 },
    }, rows);
    this.ends = new Rows(bits(1), 2 * rows);
  }
}

/** Draws a parameter for an episode: of a range, of a list, or what it is. */
function drawn(value: unknown, random: RandomStream): unknown {
  if (Array.isArray(value)) {
    const [low, high] = value as number[];
    return low + (high - low) * random.uniform();
  }
  const { oneOf } = Object(value) as { oneOf?: unknown[] };
  return oneOf ? oneOf[random.integer(oneOf.length)] : value;
}

/** A world as `saved` has it. */
export interface SavedWorld {
  readonly random: number[];
  readonly parameters: GameParameters;
  /** State of a world that saves it. */
  readonly state?: unknown;
  /** Seed and random stream that the episode of another one began with. */
  readonly begun?: { readonly seed?: number; readonly random: number[] };
  /** Number of its actions, for who waits until they are played again. */
  readonly steps?: number;
  /** The actions, and what was seen last, by the byte. */
  readonly actions?: string;
  readonly seen?: string;
}

function textOf(parts: readonly Uint8Array[]): string {
  const letters = Array.from(joined(parts), (it) => String.fromCharCode(it));
  return btoa(letters.join(""));
}

const bytesOf = (text: string) =>
  Uint8Array.from(atob(text), (it) => it.charCodeAt(0));

/** A world and its rows. */
export class Place {
  readonly world: GameWorld;
  readonly agents: number;
  /** True for parameters of its episodes that the world has looked at, else false. */
  readonly read = new Map<string, boolean>();
  readonly #rows: readonly number[];
  readonly #numbers: Numbers;
  #random = new RandomStream(0);
  #parameters: GameParameters = {};
  /** How the episode of a world without `save` began, and its actions. */
  #begun?: SavedWorld["begun"];
  #actions: Uint8Array[] = [];
  /** True where the episode could not be played again: the next step cuts it off. */
  #isLost = false;

  /** Takes the rows from `first` on. */
  constructor(world: GameWorld, first: number, numbers: Numbers) {
    this.world = world;
    this.agents = world.agents ?? 1;
    this.#rows = Array.from({ length: this.agents }, (_, i) => first + i);
    this.#numbers = numbers;
  }

  /** Starts an episode with parameters that it draws. */
  begin(values: GameParameters, seed?: number): void | Promise<void> {
    if (seed !== undefined) this.#random = new RandomStream(seed);
    const entries = Object.entries(values)
      .map(([name, it]) => [name, drawn(it, this.#random)]);
    this.#parameters = Object.fromEntries(entries);
    return this.#begin(seed);
  }

  #begin(seed?: number): void | Promise<void> {
    const random = this.#random, parameters = {};
    for (const [name, value] of Object.entries(this.#parameters)) {
      const get = () => {
        this.read.set(name, true);
        return value;
      };
      if (!this.read.has(name)) this.read.set(name, false);
      Object.defineProperty(parameters, name, { get, enumerable: true });
    }
    this.#isLost = false;
    this.#begun = this.world.save ? undefined : { seed, random: random.save() };
    this.#actions = [];
    const first = this.world.reset({ seed, random, parameters });
    const show = (it: GameValue) => this.#fill(this.#numbers.observations, it);
    return isPromise(first) ? first.then(show) : show(first);
  }

  /** Takes the step of the present actions, or one that a person makes. */
  step(isWatched: boolean): GameStep | undefined | Promise<GameStep> {
    if (this.#isLost) return undefined;
    if (isWatched) return this.#watch();
    const { actions } = this.#numbers;
    if (this.#begun) this.#actions.push(joined(this.#bytes(actions)));
    const taken = this.#rows.map((row) => actions.read(row));
    return this.world.step(this.world.agents ? taken : taken[0]);
  }

  async #watch(): Promise<WatchedStep> {
    const { world } = this, { actions } = this.#numbers;
    if (!world.watch) {
      throw new TypeError("Cannot watch a person: the world has no 'watch'");
    }
    const step = await world.watch();
    this.#fill(actions, step.action);
    if (this.#begun) this.#actions.push(joined(this.#bytes(actions)));
    return step;
  }

  /**
   * Writes the result of a step; without one the episode is cut off.
   *
   * @param finals Takes the bytes of last observations, and their masks.
   * @returns True if the world is to be reset.
   */
  write(step: GameStep | undefined, finals: Uint8Array[]): boolean {
    const { observations, masks, rewards, ends, rows, ...numbers } =
      this.#numbers;
    let over = 0;
    if (step) this.mask();
    this.#rows.forEach((row, agent) => {
      const of = <T>(name: keyof GameStep) =>
        this.#of(step![name] as T, agent, name);
      const isTerminated = step !== undefined && of<boolean>("terminated");
      const isTruncated = step === undefined || of<boolean>("truncated");
      rewards.write(step ? of<number>("reward") : 0, row);
      ends.write(Number(isTerminated), row);
      ends.write(Number(isTruncated), rows + row);
      const hasEnded = isTerminated || isTruncated;
      const target = step && hasEnded ? numbers.finals : observations;
      if (step) target.write(of("observation"), row);
      if (!hasEnded) return;
      const last = [...target.bytes(row), ...masks?.bytes(row) ?? []];
      finals.push(...last.map((it) => it.slice()));
      const next = step?.next && of<GameValue | undefined>("next");
      if (next === undefined) over++;
      else observations.write(next, row);
    });
    if (over > 0 && over < this.agents) {
      throw new TypeError(
        "Cannot reset a world of which some agents go on: expected 'next' for those that ended",
      );
    }
    return over > 0;
  }

  /** Writes the masks of its rows. */
  mask(): void {
    const { masks } = this.#numbers;
    if (masks) this.#fill(masks, this.world.actionMasks!() as GameValue);
  }

  /** Saves the world, or how its episode is played again. */
  async save(): Promise<SavedWorld> {
    const random = this.#random.save(), parameters = this.#parameters;
    const { world } = this, begun = this.#begun, steps = this.#actions.length;
    if (world.save) {
      return { random, parameters, state: await world.save() };
    }
    const actions = textOf(this.#actions);
    const seen = textOf(this.#bytes(this.#numbers.observations));
    return { random, parameters, begun, steps, actions, seen };
  }

  /** Restores what was saved. */
  async load(saved: SavedWorld): Promise<void> {
    this.#parameters = saved.parameters;
    this.#isLost = false;
    if (saved.begun) await this.#replay(saved as Required<SavedWorld>);
    else {
      // Its random stream comes with a reset.
      await this.#begin();
      await this.world.load!(saved.state);
    }
    this.#random.load(saved.random);
  }

  /** Plays an episode again: it goes on if it comes to the same. */
  async #replay(saved: Required<SavedWorld>): Promise<void> {
    const { actions, observations } = this.#numbers;
    const played = bytesOf(saved.actions), size = played.length / saved.steps;
    this.#random.load(saved.begun.random);
    await this.#begin(saved.begun.seed);
    let isOver = false;
    for (let i = 0; i < saved.steps && !isOver; i++) {
      spread(played.subarray(i * size), this.#bytes(actions));
      isOver = this.write(await this.step(false), []);
    }
    const seen = this.#bytes(observations);
    this.#isLost = isOver || textOf(seen) !== saved.seen ||
      `${this.#random.save()}` !== `${saved.random}`;
    spread(bytesOf(saved.seen), seen);
  }

  /** Bytes of all of its rows. */
  #bytes(values: Rows): Uint8Array[] {
    return this.#rows.flatMap((row) => values.bytes(row));
  }

  /** Writes a value for each row. */
  #fill(values: Rows, given: GameValue): void {
    this.#rows.forEach((row, agent) =>
      values.write(this.#of(given, agent, "observation"), row)
    );
  }

  /** Returns the value of an agent, of a list where the world has agents. */
  #of<T>(value: T | ArrayLike<T>, agent: number, name: string): T {
    if (value === undefined || value === null) {
      throw new TypeError(`Cannot send a step without its ${name}`);
    }
    if (!this.world.agents) return value as T;
    const list = value as ArrayLike<T>;
    if (list.length === this.agents) return list[agent];
    throw new RangeError(
      `Cannot send the ${name} of ${this.agents} agents: expected a list of ${this.agents}`,
    );
  }
}
