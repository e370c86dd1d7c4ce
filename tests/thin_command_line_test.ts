/** The command line calls the packages, and none of them calls or reads it. */
import { assertEquals } from "@std/assert";
import { packages, ROOT, sourcesIn } from "./tools/packages.ts";

const sources = (await packages())
  .filter(({ name }) => name !== "@bellman/cli")
  .flatMap(({ folder }) => sourcesIn(folder))
  .map((path): [string, string] => [
    path,
    Deno.readTextFileSync(ROOT + path).replaceAll(/\/\*.*?\*\//gs, ""),
  ]);
const lab = sources.filter(([path]) => path.startsWith("lab/"));

/** Paths of the sources that an expression fits. */
function fitting(all: typeof sources, expression: RegExp): string[] {
  return all.filter(([, text]) => expression.test(text)).map(([path]) => path);
}

Deno.test("no package takes the command line's types, or starts it", () => {
  const isCommandLine =
    /@bellman\/cli\b|\bParsedOptions\b|["'`(][./]*cli\/|\bcommand_line\b/;
  assertEquals(fitting(sources, isCommandLine), []);
});

Deno.test("what a run is asked for is data: no package of runs takes words", () => {
  assertEquals(fitting(lab, /\bparseArgs\b/), []);
  // The one argument of a run's process is its task, as JSON.
  assertEquals(fitting(lab, /\bDeno\.args\b|\bprocess\.argv\b/), [
    "lab/runs/tasks/run_job.ts",
  ]);
});

Deno.test("no package reads what processes print for people", () => {
  const starting = lab.filter(([, text]) => /\bDeno\.Command\(/.test(text));
  assertEquals(starting.map(([path]) => path), [
    "lab/runs/play/mp4.ts",
    "lab/runs/play/page.ts",
    "lab/runs/ray/runs_program.ts",
    "lab/runs/tasks/job.ts",
    "lab/search/install.ts",
    "lab/search/optuna.ts",
  ]);
  // Lines of JSON come from runs, clusters and Optuna, a program from a bundler; others
  // are shown as they are.
  const reading = /\bRegExp\(|\.(match|matchAll|exec|test|search)\(/;
  assertEquals(fitting(starting, reading), ["lab/runs/play/page.ts"]);
});
