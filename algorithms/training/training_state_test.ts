import { assertEquals } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { CheckpointStore } from "./checkpoint_store.ts";
import { ToyAlgorithm, ToyEnv } from "./testdata/toy.ts";
import { train } from "./train.ts";

setFlagsFromString("--expose-gc");
const gc: () => void = runInNewContext("gc");

Deno.test("rows of checkpoints that are gone are neither kept nor remembered", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const found: WeakRef<Int32Array>[] = [];
  let kept: readonly unknown[] = [], alive = NaN;
  const algorithm = Object.assign(new ToyAlgorithm(4), {
    rows: {
      of() {
        const rows = new Int32Array(100);
        found.push(new WeakRef(rows));
        return rows;
      },
      keep: (rows: readonly unknown[]) => void (kept = rows),
    },
  });
  await train(algorithm, new ToyEnv(4), {
    totalTimesteps: 100,
    checkpoints: { store, everyTimesteps: 4, keepLast: 2 },
    callbacks: [{
      async onCheckpoint({ step }) {
        if (step !== 96) return;
        await new Promise((done) => setTimeout(done));
        gc();
        alive = found.filter((it) => it.deref() !== undefined).length;
      },
    }],
  });
  assertEquals([store.list().checkpoints.length, kept.length], [2, 2]);
  assertEquals([found.length, alive], [26, 2]);
  await Deno.remove(dir, { recursive: true });
});
