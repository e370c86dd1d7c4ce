import type { Table } from "./tables.ts";

/** Figure of a report. */
export interface Figure {
  /** File name. */
  name: string;
  /** Its title. */
  title: string;
  /** Caption: content, number of runs, bootstrap. */
  caption: string;
  /** Draws it as SVG, with a title unless that is empty. */
  draw(look: { title: string; width: number; height: number }): string;
}

/** Section of a report. */
export interface Section {
  /** Heading. */
  title: string;
  /** Sentence below the heading. */
  intro: string;
  /** Its figures. */
  figures: readonly Figure[];
  /** Tables, below the figures. */
  tables: readonly Table[];
}

/** Note for fewer runs than an interval needs. */
export const FEW_RUNS = "few runs: too narrow";

/** Notes which estimates have too few runs for their intervals. */
export function fewRunsNote(
  estimates: readonly { name: string; fewRuns: boolean }[],
): string {
  const names = estimates.filter((it) => it.fewRuns).map(({ name }) => name);
  if (names.length === 0) return "";
  return `${FEW_RUNS}: ${[...new Set(names)].join(", ")}`;
}

/** Joins sentences, without empty ones. */
export function sentences(...texts: readonly string[]): string {
  return texts.filter((it) => it !== "")
    .map((it) => it.endsWith(".") ? it : `${it}.`).join(" ");
}
