import { assert, assertEquals } from "@std/assert";
import { ChildView, startIoWorker } from "./child_group.ts";
import {
  buffersOf,
  GROUP,
  shareWords,
  STATE,
  STATUS,
  type WorkerOrder,
} from "./_child_words.ts";
import { isProcess } from "./testdata/processes.ts";

const COMMAND = {
  program: Deno.execPath(),
  args: ["eval", "await Deno.stdin.readable.pipeTo(Deno.stdout.writable)"],
};

Deno.test("the late end of a process is not that of its successor", () => {
  const words = shareWords(GROUP.length);
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
      const seen = Atomics.load(words, GROUP.events);
      if (isSo()) return;
      assert(Atomics.wait(words, GROUP.events, seen, 20_000) !== "timed-out");
    }
  };
  order({
    type: "open",
    words: words.buffer,
    graceMs: 1_000,
    showPrints: false,
  });
  const before = start();
  awaitThat(() => before.state === STATE.running);
  // Nobody has waited until the first one was gone.
  const after = start();
  awaitThat(() => before.hasEnded && after.state !== STATE.starting);
  assertEquals([before.state, after.state], [STATE.ended, STATE.running]);
  assertEquals([before.pid, after.pid].map(isProcess), [false, true]);
  Atomics.store(words, GROUP.status, STATUS.closing);
  Atomics.add(words, GROUP.commands, 1);
  Atomics.notify(words, GROUP.commands);
  awaitThat(() => Atomics.load(words, GROUP.status) === STATUS.closed);
  assertEquals([before.pid, after.pid].map(isProcess), [false, false]);
  worker.terminate();
});
