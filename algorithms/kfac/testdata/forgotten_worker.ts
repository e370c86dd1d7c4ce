// deno-lint-ignore-file no-console -- a program that prints
/** Inverts factors in a worker that it never closes, and prints how that went. */
import { InversionWorker } from "../inversion_worker.ts";

let warning = "";
const worker = new InversionWorker((line) => warning += `${line}\n`);
const three = Float32Array.of(3), factors = { input: three, output: three };
const inversion = { factors, form: "inverse", damping: 1 } as const;
worker.start("w", inversion);
if (Deno.args.includes("--until-given-up")) {
  while (!warning.includes("in place")) {
    await new Promise((go) => setTimeout(go, 10));
    worker.start("w", inversion);
  }
}
const made = worker.take("w", inversion);
console.log(JSON.stringify([made?.inverse_input.data[0] ?? null, warning]));
