/** Every kind of wrong data, with every algorithm, in this thread and beside it. */
import { KINDS } from "../../envs/testdata/wrong_env.ts";
import { checkWrong, RIGHT } from "../wrong_data.ts";

const folder = await Deno.makeTempDir({ prefix: "bellman-wrong-data-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(folder, { recursive: true });
});

// What is beside this thread knows no algorithm; the short tests have A2C in it.
const RUNS = {
  sync: ["acer", "acktr", "sac"],
  workers: ["a2c", "sac"],
  subprocesses: ["a2c", "sac"],
} as const;

for (const [name, algorithms] of Object.entries(RUNS)) {
  const vectorization = name as keyof typeof RUNS;
  for (const algorithm of algorithms) {
    for (const kind of new Set([...KINDS, ...RIGHT])) {
      Deno.test(`${algorithm}, ${vectorization}: ${kind}`, () =>
        checkWrong(folder, { kind, algorithm, vectorization }));
    }
  }
}
