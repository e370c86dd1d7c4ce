import { assertEquals } from "@std/assert";
import { MessageChannel } from "node:worker_threads";
import { startWorker } from "../start_worker.ts";
import { MAIN } from "./child_group.ts";
import {
  IoLine,
  type IoWorkerData,
  lineMemory,
  type News,
  type Order,
} from "./_io_messages.ts";
import { isProcess } from "./testdata/processes.ts";

const COMMAND = {
  program: Deno.execPath(),
  args: ["eval", "await Deno.stdin.readable.pipeTo(Deno.stdout.writable)"],
};

Deno.test("the late end of a process is not that of its successor", () => {
  const orders = lineMemory(), news = lineMemory();
  const { port1, port2: port } = new MessageChannel();
  const data: IoWorkerData = { port, orders, news, showPrints: false };
  const worker = startWorker(MAIN, data);
  const order = new IoLine<Order>(port1, orders);
  const line = new IoLine<News>(port1, news);
  const pids: number[] = [], ended: number[] = [];
  let isClosed = false;
  const awaitThat = (isSo: () => boolean): void => {
    while (!isSo()) {
      line.wait(20_000);
      const told = line.receive()!;
      if (told.isClosed) isClosed = true;
      if (told.end) ended.push(told.process);
      if (told.pid) pids[told.process] = told.pid;
    }
  };
  const start = { type: "start", command: COMMAND } as const;
  order.send({ ...start, process: 0 });
  awaitThat(() => pids[0] !== undefined);
  // Nobody has waited until the first one was gone.
  order.send({ type: "kill", process: 0 });
  order.send({ ...start, process: 1 });
  awaitThat(() => ended.includes(0) && pids[1] !== undefined);
  assertEquals([ended, pids.map(isProcess)], [[0], [false, true]]);
  order.send({ type: "close", process: -1, graceMs: 1_000 });
  awaitThat(() => isClosed);
  assertEquals(pids.map(isProcess), [false, false]);
  worker.terminate();
  port1.close();
});
