/** Every kind of wrong data, with both algorithms, in this thread and beside it. */
import { KINDS } from "../../envs/testdata/wrong_env.ts";
import { checkWrong, RIGHT } from "../wrong_data.ts";

const folder = await Deno.makeTempDir({ prefix: "bellman-wrong-data-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(folder, { recursive: true });
});

for (const vectorization of ["sync", "workers", "subprocesses"] as const) {
  for (const algorithm of ["a2c", "sac"] as const) {
    // The short tests have those.
    if (vectorization === "sync" && algorithm === "a2c") continue;
    for (const kind of new Set([...KINDS, ...RIGHT])) {
      Deno.test(`${algorithm}, ${vectorization}: ${kind}`, () =>
        checkWrong(folder, { kind, algorithm, vectorization }));
    }
  }
}
