/**
 * Keeps the results that the READMEs show equal to the data beside each
 * algorithm (`algorithms/NAME/results/*.json`): the table between the marks
 * `<!-- results -->` and `<!-- /results -->`. `--check` only compares.
 */
import { ROOT } from "./packages.ts";

interface Results {
  env: string;
  /** Name of the preset; empty for the environment's own. */
  preset: string;
  command: string;
  commit: string;
  steps: number;
  bar: number | null;
  mean: number;
  spread: number;
  reached: number | null;
  seeds: unknown[];
}

interface Row extends Results {
  algorithm: string;
}

async function readResults(algorithm: string): Promise<Row[]> {
  const folder = `${ROOT}algorithms/${algorithm}/results`;
  const rows: Row[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (!name.endsWith(".json")) continue;
      const text = await Deno.readTextFile(`${folder}/${name}`);
      rows.push({ algorithm, ...JSON.parse(text) });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return rows.sort((a, b) => nameOf(a) < nameOf(b) ? -1 : 1);
}

function nameOf({ preset, env }: Results): string {
  return preset === "" ? env : preset;
}

const HEADER = [
  "algorithm",
  "environment",
  "steps",
  "seeds",
  "mean return",
  "spread over seeds",
  "bar",
  "seeds at the bar",
  "commit",
];

function cells(row: Row): string[] {
  const { seeds, bar, reached } = row;
  return [
    row.algorithm,
    nameOf(row),
    row.steps.toLocaleString("en-US"),
    String(seeds.length),
    row.mean.toFixed(1),
    row.spread.toFixed(1),
    bar === null ? "" : String(bar),
    reached === null ? "" : `${reached} of ${seeds.length}`,
    `\`${row.commit}\``,
  ];
}

/** A Markdown table as `deno fmt` writes it, with columns of equal width. */
function table(rows: Row[]): string {
  const lines = [HEADER, ...rows.map(cells)];
  const widths = HEADER.map((_, i) =>
    Math.max(3, ...lines.map((line) => line[i].length))
  );
  const render = (line: string[]): string =>
    `| ${line.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`;
  const rule = widths.map((width) => "-".repeat(width));
  return [render(HEADER), render(rule), ...lines.slice(1).map(render)]
    .join("\n");
}

const MARKED = /(<!-- results -->\n)[\s\S]*?(<!-- \/results -->)/;

async function refresh(readme: string, rows: Row[]): Promise<void> {
  const path = `${ROOT}${readme}`;
  const text = await Deno.readTextFile(path);
  const wanted = text.replace(MARKED, `$1\n${table(rows)}\n\n$2`);
  if (wanted === text) return;
  if (Deno.args.includes("--check")) {
    console.error(
      `${readme} shows other results than the data: run 'deno task results'`,
    );
    Deno.exitCode = 1;
    return;
  }
  await Deno.writeTextFile(path, wanted);
  console.log(`wrote the results into ${readme}`);
}

const all: Row[] = [];
for await (const { name, isDirectory } of Deno.readDir(`${ROOT}algorithms`)) {
  if (!isDirectory) continue;
  const rows = await readResults(name);
  if (rows.length > 0) await refresh(`algorithms/${name}/README.md`, rows);
  all.push(...rows);
}
await refresh("README.md", all);
