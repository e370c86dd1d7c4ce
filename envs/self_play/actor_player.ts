import type { Actor, Batch, BoxArray, Space, World } from "@bellman/types";
import { countChoices } from "../_action_masks.ts";
import { type Player, playsIn } from "./players.ts";
import { copyRow, mapBatch } from "../spaces/batch.ts";
import { roleOf, spacesOf } from "./_seats.ts";

/** What a seat sees and may do in all worlds. */
export interface SeatView {
  /** Its role. */
  readonly role: string;
  /** Space of its actions. */
  readonly actionSpace: Space;
  /** Observations in all worlds. */
  readonly seen: Batch;
  /** Masks in all worlds, if there are some. */
  readonly masks: Uint8Array | undefined;
}

/** Looks at all worlds from a seat, once for all actors that play it. */
export function viewOf(world: World, seat: number): SeatView {
  return {
    role: roleOf(world.seats[seat]),
    actionSpace: spacesOf(world, seat).actionSpace,
    seen: world.observe(seat),
    masks: world.actionMasks?.(seat),
  };
}

/** Rows of a seat that an actor plays. */
interface Rows {
  /** 1 for the worlds to play in, `[numEnvs]`. */
  readonly which: Uint8Array;
  /** Actions of the seat in all worlds. */
  readonly actions: Batch;
  /** First world of the actor's rows. */
  readonly from: number;
  /** World after its last row. */
  readonly to: number;
}

/** Lets an actor choose for some rows of a seat; others stay as they are. */
export function actAs(
  actor: Actor,
  { role, actionSpace, seen, masks }: SeatView,
  { which, actions, from, to }: Rows,
): void {
  const first = which.indexOf(1, from);
  if (first < 0 || first >= to) return;
  const rowsOf = (array: BoxArray) => {
    const size = array.length / which.length;
    return array.subarray(from * size, to * size) as BoxArray;
  };
  const allowed = masks && (rowsOf(masks) as Uint8Array).slice();
  if (allowed) {
    const size = countChoices(actionSpace);
    // Rows that wait allow nothing, and what is chosen there is not taken.
    for (let row = from; row < to; row++) {
      const at = (row - from) * size;
      if (which[row] === 0) allowed.fill(1, at, at + size);
    }
  }
  const rows = mapBatch(seen, rowsOf), byRole = actor.roles !== undefined;
  const given = actor.act(byRole ? { [role]: rows } : rows, allowed);
  if (given instanceof Promise) {
    throw new TypeError(
      "Cannot play with an actor that returns promises: expected actions",
    );
  }
  const chosen = byRole ? (given as Record<string, Batch>)[role] : given;
  for (let row = from; row < to; row++) {
    if (which[row] === 0) continue;
    const source = { batch: chosen, row: row - from };
    copyRow(actionSpace, source, { batch: actions, row });
  }
}

/**
 * Makes a player of an actor that takes raw observations, such as a frozen policy. Its
 * state is that of the actor, if this one saves it.
 *
 * @param actor The actor, for as many environments as there are worlds.
 * @returns The player.
 * @example
 * ```ts
 * import { actorPlayer, SelfPlayVecEnv, TicTacToe } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * // Takes the first free cell.
 * const opponent = actorPlayer({
 *   act: (_, masks) => Int32Array.of(masks!.indexOf(1)),
 * });
 * const env = new SelfPlayVecEnv(new TicTacToe(), { opponent, seat: "second" });
 * env.reset({ seed: 0 });
 * assertEquals(env.actionMasks, Uint8Array.of(0, 1, 1, 1, 1, 1, 1, 1, 1));
 * ```
 */
export function actorPlayer(actor: Actor): Player {
  const player: Player = (world, { seat, actions, which }) => {
    const { numEnvs } = world;
    const rows = Uint8Array.from(
      { length: numEnvs },
      (_, env) => +playsIn(world, { seat, env, which }),
    );
    actAs(actor, viewOf(world, seat), {
      ...{ which: rows, actions },
      ...{ from: 0, to: numEnvs },
    });
  };
  if (actor.save && actor.load) {
    player.save = () => actor.save!();
    player.load = (state) => actor.load!(state);
  }
  return player;
}
