/** Saves checkpoints one after the other and prints the step of each. Run by a test, which kills it. */
import { CheckpointStore } from "../mod.ts";

const store = new CheckpointStore(Deno.args[0]);
for (let step = store.list().checkpoints.at(-1)?.step ?? 0;; step++) {
  const values = new Float32Array(50_000).fill(step);
  store.save(step, { step, values }, { keepLast: 2 });
  store.save(step, { step, values }, { best: true });
  Deno.stdout.writeSync(new TextEncoder().encode(`${step}\n`));
}
