import { assert, assertEquals } from "@std/assert";
import { ChildView, startIoWorker } from "./child_group.ts";
import {
  buffersOf,
  CLOSED,
  CLOSING,
  COMMANDS,
  ENDED,
  EVENTS,
  GROUP,
  GROUP_WORDS,
  RUNNING,
  shareWords,
  STARTING,
  type WorkerOrder,
} from "./_child_words.ts";
import { isProcess } from "./testdata/processes.ts";

const COMMAND = {
  program: Deno.execPath(),
  args: ["eval", "await Deno.stdin.readable.pipeTo(Deno.stdout.writable)"],
};

Deno.test("the late end of a process is not that of its successor", () => {
  const words = shareWords(GROUP_WORDS);
  const worker = startIoWorker(words);
  const order = (it: WorkerOrder): void => worker.postMessage(it);
  const start = (): ChildView => {
    const view = new ChildView();
    order({
      type: "start",
      child: 0,
      command: COMMAND,
      words: view.words.buffer,
      memory: buffersOf(view.memory),
    });
    return view;
  };
  const awaitThat = (isSo: () => boolean): void => {
    for (;;) {
      const seen = Atomics.load(words, EVENTS);
      if (isSo()) return;
      assert(Atomics.wait(words, EVENTS, seen, 20_000) !== "timed-out");
    }
  };
  order({
    type: "open",
    words: words.buffer,
    graceMs: 1_000,
    showPrints: false,
  });
  const before = start();
  awaitThat(() => before.state === RUNNING);
  // Nobody has waited until the first one was gone.
  const after = start();
  awaitThat(() => before.hasEnded && after.state !== STARTING);
  assertEquals([before.state, after.state], [ENDED, RUNNING]);
  assertEquals([before.pid, after.pid].map(isProcess), [false, true]);
  Atomics.store(words, GROUP, CLOSING);
  Atomics.add(words, COMMANDS, 1);
  Atomics.notify(words, COMMANDS);
  awaitThat(() => Atomics.load(words, GROUP) === CLOSED);
  assertEquals([before.pid, after.pid].map(isProcess), [false, false]);
  worker.terminate();
});
