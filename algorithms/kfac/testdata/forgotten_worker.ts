// deno-lint-ignore-file no-console -- a program that prints
/** Inverts factors in a worker that it never closes, and prints how that went. */
import { InversionWorker } from "../inversion_worker.ts";

let warning = "";
const worker = new InversionWorker((line) => warning += `${line}\n`);
const damping = Float32Array.of(1), three = Float32Array.of(3);
const factors = { input: three, output: three, damping };
worker.start("w", factors, { form: "inverse" });
if (Deno.args.includes("--until-warned")) {
  while (warning === "") await new Promise((go) => setTimeout(go, 10));
  worker.start("w", factors, { form: "inverse" });
}
const made = worker.take("w", factors);
console.log(JSON.stringify([made?.inverse_input.data[0] ?? null, warning]));
