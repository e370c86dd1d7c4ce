import { csvText } from "@bellman/runs/program";

/** Number, interval or text in a table; null is a dash. */
export type TableValue = string | number | null | readonly [number, number];

/** Column of a table. */
export interface Column {
  /** Its heading. */
  name: string;
  /** Digits after the decimal point; all by default. */
  digits?: number;
  /** True for a column of intervals. */
  isInterval?: boolean;
}

/** Table of a report, for several formats. */
export interface Table {
  /** File name. */
  name: string;
  /** Its title. */
  title: string;
  /** Its columns. */
  columns: readonly Column[];
  /** Rows, with a value for each column. */
  rows: readonly (readonly TableValue[])[];
  /** Caption. */
  caption: string;
}

/** Removes columns without any text, such as notes. */
export function filledColumns(table: Table): Table {
  const isFilled = (_: unknown, i: number) =>
    table.rows.length === 0 || table.rows.some((row) => row[i] !== "");
  return {
    ...table,
    columns: table.columns.filter(isFilled),
    rows: table.rows.map((row) => row.filter(isFilled)),
  };
}

/** Formats of tables. */
export const TABLE_FORMATS = ["md", "csv", "latex"] as const;
/** Format of a table, for `--table`. */
export type TableFormat = typeof TABLE_FORMATS[number];

/** File extensions of the formats. */
export const EXTENSIONS: Readonly<Record<TableFormat, string>> = {
  md: "md",
  csv: "csv",
  latex: "tex",
};

function textOf(value: TableValue, { digits }: Column): string {
  if (value === null) return "-";
  if (typeof value === "string") return value;
  const written = (it: number) =>
    digits === undefined ? String(it) : it.toFixed(digits);
  return typeof value === "number"
    ? written(value)
    : `[${value.map(written).join(", ")}]`;
}

/** Formats the cells of a table. */
export const textsOf = ({ columns, rows }: Table): string[][] =>
  rows.map((row) => row.map((value, i) => textOf(value, columns[i])));

const isNumeric = ({ digits, isInterval }: Column) =>
  digits !== undefined || isInterval;

function markdown(whole: Table): string {
  const table = filledColumns(whole);
  const escaped = (text: string) => text.replaceAll("|", "\\|");
  const rows = [table.columns.map(({ name }) => name), ...textsOf(table)]
    .map((row) => row.map(escaped));
  const widths = table.columns.map((_, i) =>
    Math.max(3, ...rows.map((row) => row[i].length))
  );
  const line = (row: readonly string[]) =>
    `| ${
      row.map((text, i) =>
        isNumeric(table.columns[i])
          ? text.padStart(widths[i])
          : text.padEnd(widths[i])
      ).join(" | ")
    } |`;
  const rule = table.columns.map((column, i) =>
    isNumeric(column) ? `${"-".repeat(widths[i] - 1)}:` : "-".repeat(widths[i])
  );
  const [head, ...body] = rows.map(line);
  return [
    `## ${table.title}`,
    "",
    head,
    `| ${rule.join(" | ")} |`,
    ...body,
    "",
    table.caption,
    "",
  ].join("\n");
}

/** Writes numbers in full, and the ends of intervals in separate columns. */
function csv({ columns, rows }: Table): string {
  const names = columns.flatMap(({ name, isInterval }) =>
    isInterval ? [`${name} low`, `${name} high`] : [name]
  );
  const cells = rows.map((row) =>
    row.flatMap((value, i) => {
      if (!columns[i].isInterval) return [value];
      return Array.isArray(value) ? value : [null, null];
    })
  );
  return csvText([names, ...cells]);
}

const LATEX: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
};

function escapeLatex(text: string): string {
  return text.replace(/[\\~^]|[&%$#_{}]/g, (it) => LATEX[it] ?? `\\${it}`);
}

/** Writes a LaTeX table of the package booktabs. */
function latex(whole: Table): string {
  const table = filledColumns(whole);
  const line = (row: readonly string[]) => `${row.join(" & ")} \\\\`;
  const rows = textsOf(table).map((row) =>
    line(
      row.map((text, i) =>
        isNumeric(table.columns[i])
          ? text.replaceAll(/-(?=\d)/g, "$-$")
          : escapeLatex(text)
      ),
    )
  );
  const align = table.columns.map((it) => isNumeric(it) ? "r" : "l").join("");
  return [
    `% ${table.title}. ${table.caption}`,
    `\\begin{tabular}{${align}}`,
    "\\toprule",
    line(table.columns.map(({ name }) => escapeLatex(name))),
    "\\midrule",
    ...rows,
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

const WRITERS: Readonly<Record<TableFormat, (table: Table) => string>> = {
  md: markdown,
  csv,
  latex,
};

/**
 * Formats a table.
 *
 * @example
 * ```ts
 * import { formatTable } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const columns = [{ name: "variant" }, { name: "mean", digits: 1 }];
 * const rows = [["a2c", 21.25]];
 * const table = { name: "means", title: "Means", columns, rows, caption: "" };
 * assertEquals(formatTable(table, "csv"), "variant,mean\na2c,21.25\n");
 * ```
 */
export function formatTable(table: Table, format: TableFormat): string {
  return WRITERS[format](table);
}
