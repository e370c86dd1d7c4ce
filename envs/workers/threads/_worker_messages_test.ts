import { assertEquals } from "@std/assert";
import { Spinner } from "./_worker_messages.ts";

Deno.test("a word that has changed is seen, one that has not is waited for", () => {
  const words = new Int32Array(new SharedArrayBuffer(8));
  words[1] = 7;
  const spinner = new Spinner(), { wait } = Atomics;
  let sleeps = 0;
  Object.assign(Atomics, {
    wait: (...args: [Int32Array, number, number, number]) => {
      sleeps++;
      return wait(...args);
    },
  });
  try {
    // Often enough that it looks more and less often by turns.
    for (let i = 0; i < 20; i++) {
      spinner.wait(words, 1, { value: 6 });
      assertEquals(sleeps, i);
      spinner.wait(words, 1, { value: 7, timeoutMs: 1 });
      assertEquals(sleeps, i + 1);
    }
  } finally {
    Atomics.wait = wait;
  }
});
