import { assertEquals, assertStringIncludes } from "@std/assert";
import { formatTable, type Table } from "./tables.ts";

const table: Table = {
  name: "scores",
  title: "Scores",
  columns: [
    { name: "variant" },
    { name: "mean", digits: 1 },
    { name: "interval", digits: 1, isInterval: true },
    { name: "note" },
  ],
  rows: [
    ["a_2c", -200.25, [-210.5, -190.125], "50 % & more | less"],
    ["p<o", 1, null, ""],
  ],
  caption: "A caption.",
};

Deno.test("Markdown: aligned, a dash where there is no interval", () => {
  assertEquals(
    formatTable(table, "md"),
    `## Scores

| variant |   mean |         interval | note                |
| ------- | -----: | ---------------: | ------------------- |
| a_2c    | -200.3 | [-210.5, -190.1] | 50 % & more \\| less |
| p<o     |    1.0 |                - |                     |

A caption.
`,
  );
});

Deno.test("CSV: numbers in full, an interval's ends apart, cells quoted", () => {
  assertEquals(
    formatTable(
      { ...table, rows: [...table.rows, ['"x", y', 2, [1, 3], ""]] },
      "csv",
    ),
    `variant,mean,interval low,interval high,note
a_2c,-200.25,-210.5,-190.125,50 % & more | less
p<o,1,,,
"""x"", y",2,1,3,
`,
  );
});

Deno.test("LaTeX: characters with a meaning are escaped, minus signs are signs", () => {
  const text = formatTable(table, "latex");
  for (
    const line of [
      "% Scores. A caption.",
      "\\begin{tabular}{lrrl}",
      "variant & mean & interval & note \\\\",
      "a\\_2c & $-$200.3 & [$-$210.5, $-$190.1] & 50 \\% \\& more | less \\\\",
      "p<o & 1.0 & - &  \\\\",
    ]
  ) assertStringIncludes(text, `${line}\n`);
});

Deno.test("a column of empty notes is left out, but not of CSV", () => {
  const rows = table.rows.map((row) => [...row.slice(0, 3), ""]);
  const plain = { ...table, rows };
  assertStringIncludes(
    formatTable(plain, "latex"),
    "variant & mean & interval \\\\",
  );
  assertEquals(formatTable(plain, "md").includes("note"), false);
  assertStringIncludes(formatTable(plain, "csv"), ",note\n");
});
