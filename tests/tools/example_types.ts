/**
 * Checks the types of all examples, in doc comments and in Markdown, and that no Markdown
 * converts by `as`: what it shows is what the compiler infers.
 */
import { ROOT } from "./packages.ts";

/** Faults of names that nothing uses: Deno adds imports to the examples of sources. */
const UNUSED = /^TS(6133|6192|6196|6198) /;

const { stderr } = await new Deno.Command(Deno.execPath(), {
  args: ["check", "--doc-only", "."],
  cwd: ROOT,
  env: { NO_COLOR: "1" },
}).output();
const problems = new TextDecoder().decode(stderr)
  .split(/^(?=TS\d+ |error: )/m)
  .filter((it) => /^TS\d+ /.test(it) && !UNUSED.test(it));

/** Lines that convert a value, `as const` apart, in the examples of a text. */
function castsIn(text: string): string[] {
  const examples = [...text.matchAll(/^( *)```ts.*?^\1```/gms)]
    .map(([example]) =>
      example.replaceAll(/\/\*.*?\*\/|\/\/.*?$|(["'`]).*?\1/gms, "")
    );
  return examples.flatMap((it) => it.split("\n"))
    .filter((line) => !/^\s*(import|export)\b|^\s*type \w+,/.test(line))
    .filter((line) => /[\w)\]}] as (?!const\b)[\w({[]/.test(line));
}

const { stdout } = await new Deno.Command("git", {
  args: ["ls-files", "*.md"],
  cwd: ROOT,
}).output();
for (const path of new TextDecoder().decode(stdout).trim().split("\n")) {
  for (const line of castsIn(await Deno.readTextFile(ROOT + path))) {
    problems.push(`${path} converts by 'as': ${line.trim()}`);
  }
}
for (const problem of problems) console.error(problem.trim());
if (problems.length > 0) Deno.exit(1);
