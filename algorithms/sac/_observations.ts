import {
  type ObservationArray,
  observationBuffer,
  type ObservationEncoder,
  observationEncoder,
  type ObservationInputArray,
} from "@bellman/policies";
import type { Space } from "@bellman/types";
import type { ObservationScale } from "./sac_options.ts";

/**
 * Observations as the environment gives them and as they are kept, and as the
 * policy sees them: the same, or scaled by the statistics of the moment.
 */
export class Observations {
  /** The way in which they are kept. */
  readonly encoder: ObservationEncoder;
  /** Space that the policy is made for. */
  readonly space: Space;
  readonly #scale: ObservationScale | undefined;

  constructor(space: Space, scale: ObservationScale | undefined) {
    this.encoder = observationEncoder(space);
    this.space = scale?.space ?? space;
    this.#scale = scale;
    const { size } = this.encoder;
    const scaled = observationEncoder(this.space).size;
    if (scaled !== size) {
      throw new RangeError(
        `Cannot normalize observations of ${size} numbers by statistics of ${scaled}: expected those of the same space`,
      );
    }
  }

  /** An array of the kind that they are kept in. */
  buffer(rows: number): ObservationInputArray {
    const { input: observationInput, size: observationSize } = this.encoder;
    return observationBuffer({ observationInput, observationSize }, rows);
  }

  /** Takes those that are acted on in training into the statistics. */
  see(observations: ArrayLike<number>): void {
    this.#scale?.see(observations);
  }

  /**
   * Makes a function that gives so many rows as the policy sees them: in an
   * array that its next call writes anew, or unscaled the array that it got.
   */
  view(
    rows: number,
  ): (kept: ObservationInputArray) => ObservationInputArray {
    const scale = this.#scale;
    if (scale === undefined) return (kept) => kept;
    const scaled = new Float32Array(rows * this.encoder.size);
    return (kept) => {
      scale.apply(kept, scaled);
      return scaled;
    };
  }

  /** The same for rows as the environment gives them. */
  reader(rows: number): (given: ObservationArray) => ObservationInputArray {
    const kept = this.buffer(rows), view = this.view(rows);
    return (given) => view(this.encoder.copy(given, kept));
  }
}
