// @ts-types="@types/d3-dsv"
import { csvFormatRows } from "d3-dsv";

/** Start of a cell, for some spreadsheets also after semicolons, with a formula. */
const FORMULA = /(^|[;\t\r\n])(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/**
 * Writes rows as CSV. Numbers are unchanged; texts, which may be untrusted, are escaped
 * so that spreadsheets do not evaluate them as formulas.
 *
 * @param rows Cells of each row; undefined and null are empty.
 *
 * @example
 * ```ts
 * import { csvText } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(csvText([["run", "note"], [1, "=2+3"]]), "run,note\n1,'=2+3\n");
 * ```
 */
export function csvText(rows: readonly (readonly unknown[])[]): string {
  const cell = (value: unknown): string => {
    const text = String(value ?? "");
    return Number.isNaN(Number(text)) ? text.replaceAll(FORMULA, "$1'") : text;
  };
  return `${csvFormatRows(rows.map((row) => row.map(cell)))}\n`;
}
