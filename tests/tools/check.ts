/**
 * The one gate: everything that can be said about the code without running
 * its tests. Each step prints a line; a failing one prints its output, and the
 * rest still run, so that one call shows all that is wrong.
 */
import { LOCK, ROOT } from "./packages.ts";

interface Step {
  name: string;
  args: string[];
  cwd?: string;
}

const tool = (name: string, ...args: string[]): string[] => [
  "run",
  LOCK,
  "--no-check",
  "-P=tools",
  `tests/tools/${name}.ts`,
  ...args,
];

const STEPS: Step[] = [
  { name: "format", args: ["fmt", "--check"] },
  { name: "lint", args: ["lint"] },
  { name: "types", args: ["check", LOCK, "."] },
  { name: "docs", args: tool("docs") },
  { name: "examples", args: tool("examples") },
  { name: "types of examples", args: tool("example_types") },
  { name: "schemas", args: tool("generate_schemas", "--check") },
  { name: "gradients", args: tool("tfjs_gradients", "--check") },
  { name: "texts", args: tool("texts", "--check") },
  { name: "release configuration", args: tool("jsr_config", "--check") },
  { name: "licenses", args: tool("licenses", "--check") },
  { name: "results", args: tool("results_tables", "--check") },
  {
    name: "site",
    args: [
      ...["run", LOCK, "--no-check", "--no-prompt", "-P=site"],
      "site/main.ts",
      // Pages of interfaces take ten times as long: a long test checks them.
      ...["--check", "--no-api"],
    ],
  },
  { name: "imports", args: tool("imports") },
  { name: "house", args: tool("house") },
  { name: "publish", args: ["publish", LOCK, "--dry-run", "--allow-dirty"] },
];

async function runStep({ name, args }: Step): Promise<boolean> {
  const started = performance.now();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${success ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (!success) {
    const decoder = new TextDecoder();
    const text = decoder.decode(stdout) + decoder.decode(stderr);
    console.log(text.replaceAll(/^Check .*\n/gm, ""));
  }
  return success;
}

let failed = 0;
for (const step of STEPS) if (!await runStep(step)) failed++;
if (failed > 0) {
  console.log(`${failed} of ${STEPS.length} checks failed`);
  Deno.exit(1);
}
