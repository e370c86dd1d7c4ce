import { assertEquals } from "@std/assert";
import { Spinner } from "./_worker_messages.ts";

Deno.test("a word that has changed is seen, one that has not is waited for", () => {
  const words = new Int32Array(new SharedArrayBuffer(8));
  words[1] = 7;
  const spinner = new Spinner();
  // Often enough that it looks more and less often by turns.
  for (let i = 0; i < 20; i++) {
    assertEquals(spinner.wait(words, 1, { value: 6 }), true);
    assertEquals(spinner.wait(words, 1, { value: 7, timeoutMs: 1 }), false);
  }
});
