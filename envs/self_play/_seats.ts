import { spacesEqual } from "../spaces/values.ts";
import type { RoleSpaces, Seat, World } from "@bellman/types";

/** Returns the role of a seat. */
export function roleOf({ role = "player" }: Seat): string {
  return role;
}

/** Returns the team of a seat, by default its own. */
export function teamOf({ name, team = name }: Seat): string {
  return team;
}

/** Throws unless worlds have seats, and each seat a role with spaces. */
export function checkSeats(world: World): void {
  const { seats, roles } = world;
  const odd = seats?.find((seat) => {
    const spaces = roles?.[roleOf(seat)];
    return !spaces?.observationSpace || !spaces.actionSpace;
  });
  if (odd === undefined && seats?.length > 0) return;
  const fault = odd === undefined
    ? "it has no seats"
    : `seat ${odd.name} has the role ${roleOf(odd)}`;
  throw new TypeError(
    `Cannot play ${
      gameName(world)
    }: ${fault}, expected seats whose roles have an observationSpace and an actionSpace`,
  );
}

/** Returns the spaces of a seat. */
export function spacesOf(
  { seats, roles }: Pick<World, "seats" | "roles">,
  seat: number,
): RoleSpaces {
  return roles[roleOf(seats[seat])];
}

/** Finds out if a policy of one role fits another one. */
export function haveSameSpaces(one: RoleSpaces, other: RoleSpaces): boolean {
  return spacesEqual(one.observationSpace, other.observationSpace) &&
    spacesEqual(one.actionSpace, other.actionSpace);
}

/** Names a game in error messages. */
export function gameName({ spec, constructor }: World): string {
  return spec?.id ?? constructor.name;
}

/**
 * Averages what some seats of a world got.
 *
 * @param returns Rewards so far, `[numEnvs, seats]`.
 * @param counts Tells whether a seat counts.
 * @returns The mean; 0 where none counts.
 */
export function meanReturn(
  { seats }: Pick<World, "seats">,
  returns: Float64Array,
  { env, counts }: { env: number; counts(seat: Seat, index: number): boolean },
): number {
  let sum = 0, count = 0;
  for (let seat = 0; seat < seats.length; seat++) {
    if (!counts(seats[seat], seat)) continue;
    sum += returns[env * seats.length + seat];
    count++;
  }
  return sum / Math.max(1, count);
}
