import { assert, assertEquals } from "@std/assert";
import { SharedParameters } from "./parameter_server.ts";
import type { Contention } from "./testdata/contender.ts";

const WORKERS = 3;
const PUSHES = 6_000;

/** Pushes from several threads at once to few parameters: far more contention than in training. */
async function contend(
  { isLocked, goal, size = 8 }: {
    isLocked: boolean;
    goal?: Float32Array;
    size?: number;
  },
): Promise<
  { shared: SharedParameters; seen: { least: number; most: number }[] }
> {
  const options = {
    optimizer: goal ? "shared_rmsprop" : "momentum_sgd",
    decay: goal ? 0.99 : 0,
    rmspropEpsilon: 0.01,
    workers: WORKERS,
  } as const;
  const shared = SharedParameters.from(new Float32Array(size), options);
  const lock = isLocked ? new Int32Array(new SharedArrayBuffer(4)) : undefined;
  const seen = await Promise.all(
    Array.from({ length: WORKERS }, (_, worker) => {
      const thread = new Worker(
        import.meta.resolve("./testdata/contender.ts"),
        {
          type: "module",
        },
      );
      const { memory } = shared;
      const work: Contention = {
        memory,
        options,
        worker,
        pushes: PUSHES,
        lock,
        goal,
      };
      thread.postMessage(work);
      return new Promise<{ least: number; most: number }>((resolve) => {
        thread.onmessage = ({ data }) => {
          thread.terminate();
          resolve(data);
        };
      });
    }),
  );
  assertEquals(shared.steps, WORKERS * PUSHES);
  return { shared, seen };
}

Deno.test("under a lock no update is lost, without one few are", async () => {
  const all = WORKERS * PUSHES;
  const locked = await contend({ isLocked: true });
  locked.shared.memory.params.forEach((it) => assertEquals(it, -all));
  const free = await contend({ isLocked: false });
  const lost = free.shared.memory.params.map((it) => 1 + it / all);
  // Whatever is lost, each number is a sum of whole updates: none is torn.
  free.shared.memory.params.forEach((it) => assert(Number.isInteger(it)));
  assert(lost.every((it) => it >= 0 && it < 0.9), String(lost));
});

Deno.test("learning holds without a lock, and no number is torn", async () => {
  const goal = Float32Array.from({ length: 32 }, (_, i) => Math.sin(i));
  const [locked, free] = [
    await contend({ isLocked: true, goal, size: 32 }),
    await contend({ isLocked: false, goal, size: 32 }),
  ];
  for (const { shared: { memory }, seen } of [locked, free]) {
    memory.params.forEach((it, i) => assert(Math.abs(it - goal[i]) < 0.01));
    assert(memory.slots.every((it) => it >= 0 && it < 10));
    // Torn numbers would lie anywhere.
    for (const { least, most } of seen) assert(least > -2 && most < 2);
  }
  const drift = Math.max(
    ...free.shared.memory.params.map((it, i) =>
      Math.abs(it - locked.shared.memory.params[i])
    ),
  );
  assert(drift < 0.01, String(drift));
});
