import { isStateRecord } from "@bellman/files";
import { isWhole } from "@bellman/files/options";
import type { StateTree } from "@bellman/types";
import type { ObservationScale } from "@bellman/policies";
import type { Normalization, RewardScale, SavedState } from "./algorithm.ts";

/**
 * Finds the first difference between two sets of parameters.
 *
 * @param own Those that are expected.
 * @param other The others.
 * @returns A path with its shape and the expected one, if there is one.
 * @example
 * ```ts
 * import { differenceOf } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const data = new Float32Array();
 * const of = (...shape: number[]) => ({ bias: { data, shape } });
 * assertEquals(differenceOf(of(4), of(4)), undefined);
 * assertEquals(differenceOf(of(4), of(8)), "bias [8], expected [4]");
 * ```
 */
export function differenceOf(
  own: SavedState[string],
  other: SavedState[string] | undefined,
): string | undefined {
  if (other === undefined) return "nothing";
  const paths = new Set([...Object.keys(own), ...Object.keys(other)]);
  const shape = (it: SavedState[string][string] | undefined) =>
    it === undefined ? "none" : `[${it.shape}]`;
  for (const path of paths) {
    const [wanted, got] = [shape(own[path]), shape(other[path])];
    if (wanted !== got) return `${path} ${got}, expected ${wanted}`;
  }
}

/** Pairs each scale of an agent with its saved statistics. */
export function scalesWith(
  normalization: Normalization,
  { saved, agent }: { readonly saved: StateTree; readonly agent: string },
): [ObservationScale | RewardScale, StateTree][] {
  const held = isStateRecord(saved) ? saved : {};
  return (["observations", "rewards"] as const).flatMap((name) => {
    const scale = normalization[name], state = held[name] ?? null;
    if ((scale === undefined) !== (state === null)) {
      const [own, other] = scale === undefined
        ? ["does not scale", "does"]
        : ["scales", "does not"];
      throw new TypeError(
        `Cannot restore an agent of ${agent} that ${own} ${name} from one that ${other}: expected the same normalization`,
      );
    }
    return scale === undefined ? [] : [[scale, state]];
  });
}

/** Throws unless a saved state counts steps and updates in whole numbers. */
export function checkCounts(
  { steps, updates }: { readonly [name: string]: unknown },
  agent: string,
): void {
  if ([steps, updates].every((it) => isWhole(it, 0))) return;
  throw new TypeError(
    `Cannot restore an agent of ${agent} that counts ${steps} steps and ${updates} updates: expected whole numbers`,
  );
}
