import type { ReplayCore } from "./_replay_core.ts";
import type { ReplayBufferOptions } from "./replay_buffer_options.ts";
import type { SharedReplay } from "./shared_replay.ts";

/** The memory of a buffer as a message to a writer. */
export function shareParts(
  { parts, capacity, numEnvs }: ReplayCore,
  { fields, episodes }: ReplayBufferOptions,
  writer: number,
): SharedReplay {
  const { rings, rows, sides, control } = parts;
  if (control === undefined) {
    throw new TypeError(
      "Cannot share a buffer in memory of its own: expected the option 'shared'",
    );
  }
  if (rings[writer] === undefined) {
    throw new RangeError(
      `Cannot share with writer ${writer}: expected one of ${rings.length}, from 0 on`,
    );
  }
  return {
    options: { capacity, numEnvs, fields, episodes, writers: rings.length },
    writer,
    columns: rows.map(({ data }) => data!.buffer as SharedArrayBuffer),
    sides: sides.map(({ memory }) => memory),
    control,
  };
}
