import type { ReplayParts } from "./_replay_parts.ts";

/**
 * Reads of rows that workers write to meanwhile: what is read is only taken if
 * none of it was overwritten until then.
 */
export class SharedReads {
  readonly #parts: ReplayParts;
  readonly #versions: number[];

  constructor(parts: ReplayParts) {
    this.#parts = parts;
    this.#versions = parts.rings.map(() => 0);
  }

  /** Finds how far the writers are by now. */
  begin(): void {
    const { rings, sides, links, episodes } = this.#parts;
    if (episodes !== undefined) episodes.missed = false;
    for (let i = 0; i < rings.length; i++) {
      this.#versions[i] = links[i].refresh(rings[i], sides[i]);
    }
  }

  /** Whether rows that were read since then were there all along. */
  isIntact(slots: Int32Array): boolean {
    const { rings, links, episodes } = this.#parts;
    if (episodes?.missed) return false;
    for (let i = 0; i < rings.length; i++) {
      const ring = rings[i];
      if (!links[i].isVersion(this.#versions[i])) return false;
      const gone = links[i].firstStep - ring.firstStep;
      if (gone <= 0) continue;
      const rows = gone * ring.numEnvs;
      for (const slot of slots) {
        const row = slot - ring.base;
        if (row < 0 || row >= ring.rows) continue;
        const from = row - ring.first;
        if ((from < 0 ? from + ring.rows : from) < rows) return false;
      }
    }
    return true;
  }
}
