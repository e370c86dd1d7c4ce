import type { Table } from "./tables.ts";

/** Figure of a report. */
export interface Figure {
  /** Name of its file. */
  name: string;
  /** Its title. */
  title: string;
  /** What it shows, of how many runs, by which bootstrap. */
  caption: string;
  /** Draws it as SVG, without its title where that is empty. */
  draw(look: { title: string; width: number; height: number }): string;
}

/** Part of a report under a heading. */
export interface Section {
  /** Its heading. */
  title: string;
  /** Sentence below the heading. */
  intro: string;
  /** Its figures. */
  figures: readonly Figure[];
  /** Its tables, below the figures. */
  tables: readonly Table[];
}

/** Words for fewer runs than an interval needs. */
export const FEW_RUNS = "few runs: too narrow";

/** Names what has too few runs for its intervals. */
export function fewRunsNote(
  estimates: readonly { name: string; fewRuns: boolean }[],
): string {
  const names = estimates.filter((it) => it.fewRuns).map(({ name }) => name);
  if (names.length === 0) return "";
  return `${FEW_RUNS}: ${[...new Set(names)].join(", ")}`;
}

/** Joins sentences, without those that are empty. */
export function sentences(...texts: readonly string[]): string {
  return texts.filter((it) => it !== "")
    .map((it) => it.endsWith(".") ? it : `${it}.`).join(" ");
}
