import { isPromise, Numbers, Place, type SavedWorld } from "./place.ts";
import { HEAD, joined, spread } from "./rows.ts";
import { replace, revive } from "./saved_text.ts";
import type { GameParameters, GameSpace, GameWorld } from "./world.ts";

/** Version of the messages. */
const PROTOCOL = 1;

/** First byte of a message of actions: the agent's, or none as a person plays. */
const STEP = 3, WATCH = 9;

/** Text of a trainer. */
interface Command {
  readonly type: string;
  readonly protocol?: number;
  readonly numEnvs: number;
  readonly first: number;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly parameters: GameParameters;
  readonly values: GameParameters;
  readonly seeds?: readonly number[];
  readonly worlds: readonly SavedWorld[];
}

/**
 * Makes a world.
 *
 * @param kwargs Options that the trainer gives.
 * @param index Number of the world among all pages.
 */
export type MakeWorld = (
  kwargs: Readonly<Record<string, unknown>>,
  index: number,
) => GameWorld | Promise<GameWorld>;

/** Writes bounds as the messages have them. */
function plain(space: GameSpace): unknown {
  const text = JSON.stringify(space, (_, it) => {
    if (ArrayBuffer.isView(it)) return Array.from(it as Float64Array);
    return Math.abs(it) === Infinity ? it > 0 ? "inf" : "-inf" : it;
  });
  return JSON.parse(text);
}

/**
 * Answers the messages of a trainer with worlds, whatever carries them: each message has
 * one answer, and the next one comes after that.
 *
 * @example
 * ```ts
 * import { Host } from "@bellman/client";
 * import { make } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const host = new Host(() => make("CartPole-v1"));
 * const open = { type: "open", protocol: 1, numEnvs: 2, first: 0 };
 * const opened = JSON.parse(await host.answer(JSON.stringify(open)) as string);
 * assertEquals(opened.actionSpace, { type: "discrete", n: 2 });
 * const reset = JSON.stringify({ type: "reset", seeds: [1, 2] });
 * assertEquals((await host.answer(reset)).length, 8 + 2 * 4 * 4);
 * host.close();
 * ```
 */
export class Host {
  readonly #make: MakeWorld;
  #numbers?: Numbers;
  #places: readonly Place[] = [];
  #parameters: GameParameters = {};

  /**
   * Keeps what makes worlds, until some are asked for.
   *
   * @param make Makes a world.
   */
  constructor(make: MakeWorld) {
    this.#make = make;
  }

  /**
   * Answers a message.
   *
   * @param message Text, or the bytes of actions.
   * @returns Text, or bytes. What a world throws is an answer, too.
   */
  async answer(
    message: string | ArrayBuffer | Uint8Array,
  ): Promise<string | Uint8Array> {
    try {
      if (typeof message !== "string") {
        return await this.#step(new Uint8Array(message as ArrayBuffer));
      }
      const answer = await this.#carryOut(JSON.parse(message, revive));
      return answer instanceof Uint8Array
        ? answer
        : JSON.stringify(answer, replace);
    } catch (error) {
      const { name = "Error", message = String(error), stack } = Object(
        error,
      ) as Partial<Error>;
      return JSON.stringify({ type: "error", name, message, stack });
    }
  }

  /** Closes the worlds. */
  close(): void {
    for (const { world } of this.#places) world.close?.();
    this.#places = [];
    this.#numbers = undefined;
  }

  async #carryOut(command: Command): Promise<object | Uint8Array> {
    switch (command?.type) {
      case "open":
        return await this.#open(command);
      case "reset":
        return await this.#reset(command);
      case "save":
        return {
          type: "saved",
          worlds: await Promise.all(this.#opened().map((it) => it.save())),
        };
      case "load":
        await this.#load(command);
        return { type: "done" };
      case "parameters":
        this.#parameters = command.values;
        return { type: "done", ...this.#unread() };
    }
    throw new TypeError(`Cannot carry out '${command?.type}'`);
  }

  /** Makes the worlds, of which the first one tells how many rows each has. */
  async #open(
    { protocol, numEnvs, first, kwargs = {}, parameters = {} }: Command,
  ): Promise<object> {
    if (protocol !== PROTOCOL) {
      throw new TypeError(
        `Cannot speak protocol ${protocol}: this client speaks ${PROTOCOL}`,
      );
    }
    const world = await this.#make(kwargs, first), agents = world.agents ?? 1;
    const worlds = [world], count = numEnvs / agents;
    if (!(Number.isInteger(count) && count >= 1)) {
      world.close?.();
      throw new RangeError(
        `Cannot make ${numEnvs} environments of worlds with ${agents} agents: expected a multiple of ${agents} in each page or program`,
      );
    }
    if (world.save && !world.load) {
      throw new TypeError("Cannot save a world that has no 'load'");
    }
    while (worlds.length < count) {
      worlds.push(await this.#make(kwargs, first / agents + worlds.length));
    }
    const numbers = new Numbers(world, numEnvs);
    this.close();
    this.#numbers = numbers;
    this.#parameters = parameters;
    this.#places = worlds.map((it, i) => new Place(it, i * agents, numbers));
    const { observationSpace, actionSpace, spec, framesPerSecond } = world;
    return {
      ...{ type: "opened", protocol, agents },
      observationSpace: plain(observationSpace),
      actionSpace: plain(actionSpace),
      masks: numbers.masks !== undefined,
      ...{ spec, framesPerSecond },
    };
  }

  /** Names the parameters of episodes that no world has looked at, if there are some. */
  #unread(): { unread?: string[] } {
    const unread = Object.keys(this.#parameters).filter((name) => {
      const read = this.#places.map((it) => it.read.get(name));
      return read.includes(false) && !read.includes(true);
    });
    return unread.length > 0 ? { unread } : {};
  }

  #opened(): readonly Place[] {
    if (this.#numbers) return this.#places;
    throw new TypeError("Cannot play before the worlds are open");
  }

  async #reset({ seeds }: Command): Promise<Uint8Array> {
    const places = this.#opened();
    await all(
      places.map((it, i) => it.begin(this.#parameters, seeds?.[i * it.agents])),
    );
    return this.#seen();
  }

  /** Bytes of what is seen now, and of what may follow it. */
  #seen(...more: Uint8Array[]): Uint8Array {
    const { observations, masks } = this.#numbers!;
    this.#places.forEach((it) => it.mask());
    const head = new Uint8Array(HEAD);
    return joined(
      [head, ...observations.memory, ...masks?.memory ?? [], ...more],
    );
  }

  async #load({ worlds }: Command): Promise<void> {
    const places = this.#opened();
    if (worlds?.length !== places.length) {
      throw new RangeError(
        `Cannot restore ${places.length} worlds from ${worlds?.length}`,
      );
    }
    for (const [i, it] of places.entries()) await it.load(worlds[i]);
  }

  async #step(message: Uint8Array): Promise<Uint8Array> {
    const places = this.#opened(), { actions, rewards, ends } = this.#numbers!;
    const [kind] = message, isWatched = kind === WATCH, { memory } = actions;
    if (kind !== STEP && !isWatched) {
      throw new TypeError(
        `Cannot carry out a message that begins with ${kind}`,
      );
    }
    const size = memory.reduce((sum, it) => sum + it.length, HEAD);
    if (message.length !== size) {
      throw new RangeError(
        `Cannot take actions of ${message.length} bytes: expected ${size}`,
      );
    }
    spread(message.subarray(HEAD), memory);
    const stepping = all(places.map((it) => it.step(isWatched)));
    const steps = isPromise(stepping) ? await stepping : stepping;
    const finals: Uint8Array[] = [];
    const over = places.filter((it, i) => it.write(steps[i], finals));
    const begun = all(over.map((it) => it.begin(this.#parameters)));
    if (isPromise(begun)) await begun;
    const taken = isWatched ? memory : [];
    return this.#seen(...rewards.memory, ...ends.memory, ...finals, ...taken);
  }
}

/** Waits for all, where there is something to wait for: else it costs a turn. */
function all<T>(values: (T | Promise<T>)[]): T[] | Promise<T[]> {
  return values.some(isPromise) ? Promise.all(values) : values as T[];
}
