/**
 * Counts what CONTRIBUTING says of packages, files and comments, and fails where a
 * count is above its limit: `deno task house [--list] [--write]` prints all counts,
 * with `--list` what they are of. Each package has a budget of code lines in
 * `budgets.json`, which `--write` sets to its size of today and 5 % more.
 */
import { dirname, join, normalize } from "node:path";
import { packages, ROOT } from "./packages.ts";

/** A source file of a package: no test, bench or test data. */
interface Source {
  /** Path from the root. */
  path: string;
  folder: string;
  text: string;
  codeLines: number;
  /** Files that it imports by a relative path. */
  imports: string[];
  /** True for the entry points of its package. */
  isEntry: boolean;
}

/** A count with its limit and the things counted. */
interface Count {
  name: string;
  limit: number;
  found: string[];
  /** The value that is compared with the limit; the number of things found by default. */
  value?: number;
}

const CODE_LINES = 600;
/** Share that a budget is above the size of its package when it is set. */
const MARGIN = 0.05;
const QUESTION = /^(What|How|Whether|Where|Who|Which|When)\b/;

function codeLinesOf(text: string): number {
  return text.replaceAll(/\/\*.*?\*\//gs, "").split("\n")
    .filter((line) => line.trim() !== "" && !line.trim().startsWith("//"))
    .length;
}

function importsOf(path: string, text: string): string[] {
  const relative = /\b(?:from|import)\s*\(?\s*"(\.[^"]+\.tsx?)"/g;
  return [...text.matchAll(relative)]
    .map(([, specifier]) => normalize(join(dirname(path), specifier)));
}

function sourcesIn(folder: string, entryPoints: readonly string[]): Source[] {
  return [...Deno.readDirSync(ROOT + folder)].flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) {
      return entry.name === "testdata" ? [] : sourcesIn(path, entryPoints);
    }
    if (!/(?<!_test|_bench)\.tsx?$/.test(entry.name)) return [];
    const text = Deno.readTextFileSync(ROOT + path);
    return [{
      path,
      folder,
      text,
      codeLines: codeLinesOf(text),
      imports: importsOf(path, text),
      isEntry: entryPoints.includes(path),
    }];
  });
}

/** Finds the groups of nodes that reach each other, of two nodes or more (Tarjan). */
function circlesOf(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      else if (!stack.includes(next)) continue;
      lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) circles.push(group.sort().join(", "));
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return circles;
}

function fileCircles(sources: readonly Source[]): string[] {
  return circlesOf(
    new Map(sources.map(({ path, imports }) => [path, new Set(imports)])),
  );
}

/** Entry points are left out: they export from rooms above and below. */
function folderCircles(sources: readonly Source[]): string[] {
  const edges = new Map<string, Set<string>>();
  for (const { folder, imports, isEntry } of sources) {
    if (isEntry) continue;
    const used = edges.get(folder) ?? new Set();
    edges.set(folder, used);
    for (const it of imports) if (dirname(it) !== folder) used.add(dirname(it));
  }
  return circlesOf(edges);
}

function docComments(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\/\*\*\s*\n?\s*\*?\s*(\S[^\n]*)/g)]
      .map(([, opening]) => `${path}: ${opening}`)
  );
}

const PACKAGES = await packages();
const byPackage = new Map(
  PACKAGES.map(({ folder, entryPoints }) => [
    folder,
    sourcesIn(folder, entryPoints),
  ]),
);
const sources = [...byPackage.values()].flat();
const comments = docComments(sources);
const questions = comments.filter((it) =>
  QUESTION.test(it.slice(it.indexOf(": ") + 2))
);

const COUNTS: Count[] = [
  {
    name: `files of over ${CODE_LINES} code lines`,
    limit: 0,
    found: sources.filter((it) => it.codeLines > CODE_LINES)
      .map(({ path, codeLines }) => `${path}: ${codeLines}`),
  },
  {
    name: "percent of doc comments that open with What, How, Whether, ...",
    limit: 1,
    found: questions,
    value: 100 * questions.length / comments.length,
  },
  {
    name: "import circles between files",
    limit: 0,
    found: fileCircles(sources),
  },
  {
    name: "import circles between folders",
    limit: 0,
    found: folderCircles(sources),
  },
];

const BUDGETS = `${ROOT}tests/tools/budgets.json`;

/** Prints the size of each package beside its budget, the largest first. */
function checkBudgets(): void {
  const sizes = [...byPackage].map(([folder, inside]): [string, number] => [
    folder,
    inside.reduce((sum, { codeLines }) => sum + codeLines, 0),
  ]).sort(([, a], [, b]) => b - a);
  if (Deno.args.includes("--write")) {
    const set = sizes.map(([folder, size]) => [
      folder,
      Math.ceil((1 + MARGIN) * size),
    ]);
    const text = JSON.stringify(Object.fromEntries(set), null, 2);
    Deno.writeTextFileSync(BUDGETS, `${text}\n`);
  }
  const budgets: Record<string, number> = JSON.parse(
    Deno.readTextFileSync(BUDGETS),
  );
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  console.log(`code lines: ${total}; of each package, and left of its budget:`);
  for (const [folder, size] of sizes) {
    const left = (budgets[folder] ?? 0) - size;
    const line = `  ${folder}: ${size}, ${left} left`;
    console.log(left < 0 ? `${line} EXCEEDED` : line);
    if (left < 0) Deno.exitCode = 1;
  }
}

checkBudgets();
const wantsList = Deno.args.includes("--list");
for (const { name, limit, found, value = found.length } of COUNTS) {
  const isAbove = value > limit;
  const shown = Number.isInteger(value) ? value : value.toFixed(1);
  const line = `${name}: ${shown}, at most ${limit}`;
  console.log(isAbove ? `${line} EXCEEDED` : line);
  if (isAbove || wantsList) { for (const it of found) console.log(`  ${it}`); }
  if (isAbove) Deno.exitCode = 1;
}
