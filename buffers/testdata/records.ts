import type { ReplayBufferOptions } from "../replay/options.ts";
import { ReplayBuffer } from "../replay/replay_buffer.ts";

/** A single number. */
export const number = { shape: [], dtype: "int32" } as const;

/** The fields that end episodes. */
export const flags = {
  terminated: { shape: [], dtype: "uint8" },
  truncated: { shape: [], dtype: "uint8" },
} as const;

/** A buffer of records that are independent. */
export function records(
  capacity: number,
  options: Partial<ReplayBufferOptions> = {},
): ReplayBuffer {
  return new ReplayBuffer({ capacity, fields: { x: number }, ...options });
}

/** Numbers from 0 on. */
export function count(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
