import type { DiscreteSpace, RandomSource, World } from "@bellman/types";
import { normal } from "./random.ts";
import { Player, type PlayerObservation } from "./play.ts";

/** Stream of games in pages, which nobody repeats. */
const RANDOM: RandomSource = {
  uniform: Math.random,
  normal: () => normal(Math.random),
  integer: (n) => Math.floor(n * Math.random()),
};

/** What a seat that is to act may do, and what the agent does there. */
export interface Thought {
  /** The agent's action. */
  readonly action: number;
  /** Its probability of each choice, if the file gives them. */
  readonly probabilities?: Float32Array;
  /** 1 where a choice is allowed. */
  readonly allowed: ArrayLike<number>;
}

/** Returns the space of a seat's actions. */
export function actionsOf(
  { roles, seats }: World,
  seat: number,
): DiscreteSpace {
  return roles[seats[seat].role ?? "player"].actionSpace as DiscreteSpace;
}

/** Throws for worlds that a person cannot play in a page. */
function checkWorld(world: World): void {
  const { spec, numEnvs, seats, roles } = world;
  const refuse = (what: string, expected: string) =>
    new TypeError(
      `Cannot play ${
        spec?.id ?? "this game"
      } in a page: it has ${what}, expected ${expected}`,
    );
  if (numEnvs !== 1) throw refuse(`${numEnvs} worlds`, "one");
  if (seats.length < 2) throw refuse("one seat", "several");
  const { length } = Object.keys(roles);
  if (length > 1) throw refuse(`${length} roles`, "one, of one policy");
  for (const { actionSpace: { type } } of Object.values(roles)) {
    if (type !== "discrete") throw refuse(`${type} actions`, "discrete ones");
  }
  const { actionGrid: grid } = world as { actionGrid?: readonly number[] };
  const most = Math.max(...seats.map((_, seat) => actionsOf(world, seat).n));
  if (grid !== undefined && grid[0] * grid[1] !== most) {
    throw refuse(`an actionGrid of ${grid[0]} by ${grid[1]}`, `${most} fields`);
  }
}

/** Games of a person against an agent, which plays all other seats. */
export class Match {
  readonly #world: World;
  /** One for each seat: recurrent policies remember what it saw. */
  readonly #players: readonly Player<number>[];
  #thoughts: readonly (Thought | undefined)[] = [];
  #returns: number[] = [];

  /** Begins a game. */
  constructor(world: World, policy: Uint8Array) {
    checkWorld(world);
    this.#world = world;
    this.#players = world.seats.map(() => new Player<number>(policy));
    this.begin();
  }

  /** What the agent thinks in the seats that are to act, by seat; none at the end. */
  get thoughts(): readonly (Thought | undefined)[] {
    return this.#thoughts;
  }

  /** Begins the next game. */
  begin(): void {
    this.#players.forEach((it) => it.begin());
    this.#returns = this.#players.map(() => 0);
    this.#world.begin(0, RANDOM);
    this.#think();
  }

  /** Moves: the agent in all seats but one, where the action is given. */
  step(seat: number, action: number): void {
    const actions = this.#thoughts.map((it, i) =>
      Int32Array.of(i === seat ? action : it?.action ?? 0)
    );
    const { rewards } = this.#world.step(actions, Uint8Array.of(1));
    this.#returns = this.#returns.map((it, i) => it + rewards[i]);
    this.#think();
  }

  /** Returns how much more a seat's team got than the others. */
  lead(seat: number): number {
    const { seats } = this.#world;
    const team = (i: number) => seats[i].team ?? seats[i].name;
    return this.#returns.reduce(
      (lead, it, i) => lead + (team(i) === team(seat) ? it : -it),
      0,
    );
  }

  #think(): void {
    const world = this.#world;
    this.#thoughts = this.#players.map((player, seat) => {
      if (world.toAct[seat] === 0) return undefined;
      const masks = world.actionMasks?.(seat).slice();
      const observation = world.observe(seat) as PlayerObservation;
      const action = player.act(observation, masks);
      const { probabilities } = player, { n } = actionsOf(world, seat);
      const allowed = masks ?? new Uint8Array(n).fill(1);
      return { action, probabilities, allowed };
    });
  }
}
