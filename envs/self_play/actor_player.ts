import type { Actor, Batch, BoxArray, World } from "@bellman/types";
import { countChoices } from "../_action_masks.ts";
import type { Player } from "./players.ts";
import { copyRow, mapBatch } from "../spaces/batch.ts";

/** Rows of a seat that an actor plays. */
interface Rows {
  /** Index of the seat. */
  readonly seat: number;
  /** 1 for the worlds to play in. */
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
  world: World,
  { seat, which, actions, from, to }: Rows,
): void {
  const first = which.indexOf(1, from);
  if (first < 0 || first >= to) return;
  const { actionSpace } = world.roles[world.seats[seat].role ?? "player"];
  const rowsOf = (array: BoxArray) => {
    const size = array.length / world.numEnvs;
    return array.subarray(from * size, to * size) as BoxArray;
  };
  const masks = world.actionMasks?.(seat);
  const allowed = masks && (rowsOf(masks) as Uint8Array).slice();
  if (allowed) {
    const size = countChoices(actionSpace);
    // Rows that wait allow nothing, and what is chosen there is not taken.
    for (let row = from; row < to; row++) {
      const at = (row - from) * size;
      if (which[row] === 0) allowed.fill(1, at, at + size);
    }
  }
  const chosen = actor.act(mapBatch(world.observe(seat), rowsOf), allowed);
  if (chosen instanceof Promise) {
    throw new TypeError(
      "Cannot play with an actor that returns promises: expected actions",
    );
  }
  for (let row = from; row < to; row++) {
    if (which[row] === 0) continue;
    const source = { batch: chosen, row: row - from };
    copyRow(actionSpace, source, { batch: actions, row });
  }
}

/**
 * Makes a player of an actor that takes raw observations, such as a frozen policy.
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
  return (world, { seat, actions, which }) => {
    const { toAct, seats, numEnvs } = world;
    const rows = Uint8Array.from(
      { length: numEnvs },
      (_, env) => toAct[env * seats.length + seat] & (which?.[env] ?? 1),
    );
    actAs(actor, world, { seat, which: rows, actions, from: 0, to: numEnvs });
  };
}
