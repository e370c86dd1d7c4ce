import { assertEquals } from "@std/assert";
import { CLOSED, GROUP, GROUP_WORDS, OPEN, shareWords } from "./_layout.ts";
import { startIoWorker } from "./_start_io_worker.ts";

Deno.test("nothing is waited for once the worker has failed", async () => {
  const words = shareWords(GROUP_WORDS);
  const worker = startIoWorker(words);
  const failed = new Promise((resolve) => worker.on("error", resolve));
  worker.ref();
  assertEquals(Atomics.load(words, GROUP), OPEN);
  // It was not told of any child before.
  worker.postMessage({ type: "start", child: 0, command: { program: "none" } });
  await failed;
  assertEquals(Atomics.load(words, GROUP), CLOSED);
});
