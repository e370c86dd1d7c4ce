/**
 * Lints the documentation of every entry point. References to TensorFlow.js's
 * own types are left out: they belong to the public interface of that library,
 * which a package cannot export again without documenting all of it.
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
  // Names of 104 games, which people read in lists.
  .filter((it) => !/references private type 'AtariId'/.test(it))
  // An entry is that library, whose documentation is its own.
  .filter((it) => !/--> \S+\/@tensorflow\/tfjs-core\//.test(it));
for (const problem of problems) console.error(problem);
if (problems.length > 0) Deno.exit(1);
