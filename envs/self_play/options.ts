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
import { gameName, roleOf } from "./_seats.ts";
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
   */
  snapshotEvery?: number;
  /**
   * Learner's steps until opponents are drawn anew.
   *
   * @default 2000
   */
  swapEvery?: number;
  /**
   * Probability that the newest policy is drawn, instead of one of the snapshots.
   *
   * @default 0.5
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
  /** Role of these seats. */
  readonly role: string;
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
  const { numEnvs, seats: all, roles } = world, name = gameName(world);
  checkOptions("self-play", options, KINDS);
  const { opponent, seat = "swap", ...numbers } = options;
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
  const names = all.map((it) => it.name);
  if (seat !== "swap" && !names.includes(seat)) {
    throw new RangeError(
      `Unknown seat '${seat}' of ${name}: ${hintAt(seat, [...names, "swap"])}`,
    );
  }
  const taken = [...all.keys()].filter((it) =>
    seat === "swap" || names[it] === seat
  );
  const [role, ...others] = new Set(
    taken.map((it) => roleOf(all[it])),
  );
  if (others.length > 0) {
    throw new TypeError(
      `Cannot take all seats of ${name} in turn, whose roles are ${
        Object.keys(roles).join(", ")
      }: expected one seat, such as ${names[0]}`,
    );
  }
  return { ...settled, seats: taken, role };
}
