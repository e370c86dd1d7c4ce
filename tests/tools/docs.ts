/**
 * Lints the documentation of every entry point, but not TensorFlow.js's own, of which
 * `@bellman/compute/tf` exports all: references to its types are to that entry.
 */
import { LOCK, packages, ROOT } from "./packages.ts";

const TENSORFLOW_TYPES =
  /references private type '(Tensor([0-6]D)?|Scalar|Variable|NamedTensorMap)'/;

const entryPoints = (await packages()).flatMap((it) => it.entryPoints);
const { stderr } = await new Deno.Command(Deno.execPath(), {
  args: ["doc", LOCK, "--lint", ...entryPoints],
  cwd: ROOT,
  env: { NO_COLOR: "1" },
}).output();
const text = new TextDecoder().decode(stderr);
const problems = text.split(/^(?=error(?:\[|:))/m)
  .filter((it) => it.startsWith("error"))
  .filter((it) => !/^error: Found \d+ documentation lint error/.test(it))
  .filter((it) => !TENSORFLOW_TYPES.test(it))
  .filter((it) => !/^ *--> .*\/tfjs-core\//m.test(it));
for (const problem of problems) console.error(problem);
if (problems.length > 0) Deno.exit(1);
