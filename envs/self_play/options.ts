import type { World } from "@bellman/types";
import {
  checkOptions,
  FUNCTION,
  hintAt,
  NUMBER,
  type OptionKinds,
  TEXT,
  whole,
} from "@bellman/files/options";
import { gameName, haveSameSpaces, roleOf } from "./_seats.ts";
import type { Player } from "./players.ts";

/** Options of games whose other seats are played by snapshots of the learner. */
export interface SnapshotOptions {
  /**
   * Number of snapshots that are kept; the oldest makes room for the next one.
   *
   * @default 10
   */
  window?: number;
  /**
   * Learner's steps from one snapshot to the next.
   *
   * @default 20000
   * @alias save_steps
   */
  snapshotEvery?: number;
  /**
   * Learner's steps until opponents are drawn anew.
   *
   * @default 2000
   * @alias swap_steps
   */
  swapEvery?: number;
  /**
   * Probability that the newest policy is drawn, instead of one of the snapshots.
   *
   * @default 0.5
   * @alias play_against_latest_model_ratio
   */
  latest?: number;
  /**
   * Number of groups of worlds, each with an opponent of its own; a divisor of the
   * number of worlds.
   *
   * @default 4, or the largest smaller divisor
   */
  groups?: number;
  /**
   * Probability that an opponent's move is a random one.
   *
   * @default 0
   */
  randomMoves?: number;
  /**
   * Most random moves of all seats at the start of a game; their number is drawn.
   *
   * @default 0
   */
  openings?: number;
  /**
   * The learner's seat: another one in each game, or its name.
   *
   * @default "swap"
   */
  seat?: string;
  /**
   * The learner's role, whose seats it takes.
   *
   * @default all roles, if they have the same spaces
   */
  role?: string;
}

/** Options of {@linkcode SelfPlayVecEnv}. */
export interface SelfPlayOptions extends SnapshotOptions {
  /**
   * Player of all other seats, instead of snapshots of the learner.
   *
   * @default none
   */
  opponent?: Player;
}

/** Options with all defaults resolved. */
export interface SettledOptions
  extends Required<Omit<SelfPlayOptions, "opponent" | "seat">> {
  readonly opponent?: Player;
  /** Seats that the learner takes, in turn. */
  readonly seats: readonly number[];
}

const KINDS: OptionKinds<SelfPlayOptions> = {
  opponent: FUNCTION,
  window: whole(1),
  snapshotEvery: whole(1),
  swapEvery: whole(1),
  latest: NUMBER,
  groups: whole(1),
  randomMoves: NUMBER,
  openings: whole(0),
  seat: TEXT,
  role: TEXT,
};

/** Finds out if a name is that of an option of self-play. */
export function isSelfPlayOption(name: string): name is keyof SelfPlayOptions {
  return Object.hasOwn(KINDS, name);
}

/** Checks options, and fills in defaults. */
export function settledOptions(
  options: SelfPlayOptions,
  world: World,
): SettledOptions {
  const { numEnvs } = world;
  checkOptions("self-play", options, KINDS);
  const { opponent, seat, role, ...numbers } = options;
  const groups = numbers.groups ??
    [4, 3, 2, 1].find((it) => numEnvs % it === 0)!;
  const settled = {
    window: 10,
    snapshotEvery: 20_000,
    swapEvery: 2000,
    latest: 0.5,
    randomMoves: 0,
    openings: 0,
    ...numbers,
    groups,
    opponent,
  };
  for (const key of ["latest", "randomMoves"] as const) {
    if (settled[key] >= 0 && settled[key] <= 1) continue;
    throw new RangeError(
      `Cannot play with ${key}: ${
        settled[key]
      }: expected a probability from 0 to 1`,
    );
  }
  if (numEnvs % groups !== 0) {
    throw new RangeError(
      `Cannot play in ${groups} groups of ${numEnvs} worlds: expected groups that divide numEnvs`,
    );
  }
  return { ...settled, ...seatsToTake(world, { seat, role }) };
}

/** Finds the seats that the learner takes, and their role. */
function seatsToTake(
  world: World,
  { seat = "swap", role }: Pick<SelfPlayOptions, "seat" | "role">,
): Pick<SettledOptions, "seats" | "role"> {
  const { seats: all, roles } = world, name = gameName(world);
  const names = all.map((it) => it.name);
  if (seat !== "swap" && !names.includes(seat)) {
    throw new RangeError(
      `Unknown seat '${seat}' of ${name}: ${hintAt(seat, [...names, "swap"])}`,
    );
  }
  if (role !== undefined && !Object.hasOwn(roles, role)) {
    throw new RangeError(
      `Unknown role '${role}' of ${name}: ${hintAt(role, Object.keys(roles))}`,
    );
  }
  const seats = [...all.keys()].filter((it) =>
    (seat === "swap" || names[it] === seat) &&
    (role === undefined || roleOf(all[it]) === role)
  );
  const [own, ...others] = new Set(seats.map((it) => roleOf(all[it])));
  const odd = others.find((it) => !haveSameSpaces(roles[it], roles[own]));
  if (own === undefined) {
    throw new RangeError(
      `Cannot take a seat of ${name}: ${seat} has not the role ${role}`,
    );
  }
  if (odd !== undefined) {
    throw new TypeError(
      `Cannot take all seats of ${name} in turn, as ${own} and ${odd} have other spaces: expected a role, a seat, or an agent for each role`,
    );
  }
  return { seats, role: own };
}
