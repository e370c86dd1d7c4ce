import { assert, assertEquals, assertThrows } from "@std/assert";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { HostFailure } from "../host_failure.ts";
import type { HostCommand } from "../threads/_worker_messages.ts";
import {
  awaitThat,
  endThreads,
  WorkerThread,
} from "../threads/worker_thread.ts";
import { HostThread } from "./host_thread.ts";
import type { PlainHost } from "./testdata/plain_hosts.ts";
import { isProcess } from "./testdata/processes.ts";

const MODULE = import.meta.resolve("./testdata/plain_hosts.ts");
const CHILD = new URL("./testdata/child.ts", import.meta.url).pathname;
const ARGS = ["run", "--no-check", "-q", CHILD];

/** A thread that speaks to hosts, and those. */
class Hosts implements Disposable {
  readonly thread = new HostThread(MODULE);
  readonly all: WorkerThread[] = [];

  /** Starts a host and waits for its first answer. */
  start(text?: string, aside?: MessageChannel): WorkerThread {
    const data: PlainHost = { args: ARGS, text: text ?? "hello" };
    const host = new WorkerThread(this.thread, { data, aside: aside?.port2 });
    this.all.push(host);
    this.finish(host);
    return host;
  }

  ask(host: WorkerThread, command: HostCommand, timeoutMs?: number): unknown {
    host.begin(command);
    return this.finish(host, timeoutMs);
  }

  finish(host: WorkerThread, timeoutMs = 20_000): unknown {
    awaitThat(() => host.isReady, this.thread.events, timeoutMs);
    return host.finish().snapshot;
  }

  [Symbol.dispose](): void {
    endThreads(this.all, this.thread);
    this.thread.close();
    assertEquals(this.all.map((it) => it.hasEnded), this.all.map(() => true));
    assertEquals(this.all.filter((it) => isProcess(it.pid)), []);
  }
}

const load = (snapshot: string): HostCommand => ({ type: "load", snapshot });

Deno.test("hosts answer, each in a process of its own", () => {
  using hosts = new Hosts();
  const one = hosts.start(), other = hosts.start("echo");
  one.begin(load("one"));
  other.begin(load("other"));
  assertEquals([hosts.finish(other), hosts.finish(one)], ["other", "one"]);
  assertEquals(hosts.ask(other, { type: "step" }), "echo");
  assert(isProcess(one.pid) && isProcess(other.pid) && one.pid !== other.pid);
});

Deno.test("a host may say something beside its answers, with a heartbeat", () => {
  using hosts = new Hosts();
  const aside = new MessageChannel(), host = hosts.start("hello", aside);
  hosts.ask(host, { type: "save" });
  const told = [1, 2].map(() => receiveMessageOnPort(aside.port1)?.message);
  assertEquals([told, host.heartbeats], [["open", "save"], 2]);
  aside.port1.close();
});

Deno.test("an error is told and the host goes on; an end stays one", () => {
  using hosts = new Hosts();
  const host = hosts.start();
  const error = assertThrows(() => hosts.ask(host, load("")), HostFailure);
  assertEquals([error.reason, error.message], ["error", "it is empty"]);
  assertEquals(hosts.ask(host, load("more")), "more");
  for (let times = 0; times < 2; times++) {
    const end = assertThrows(() => hosts.ask(host, load("exit 3")));
    assert(end instanceof HostFailure);
    assertEquals(end.reason, "exit");
    assertEquals(end.message, "its process ended with code 3");
  }
});

Deno.test("a silent host is ended, and what it printed is told", () => {
  using hosts = new Hosts();
  const host = hosts.start("print before"), { pid } = host;
  const error = assertThrows(
    () => hosts.ask(host, load("sleep 60000"), 50),
    HostFailure,
    "it is silent",
  );
  assertEquals(error.reason, "timeout");
  assert(error.stack!.includes("stderr says before"));
  assert(host.hasEnded && !isProcess(pid));
});

Deno.test("an error of the thread itself is told at once", async () => {
  // A process of its own, as the thread ends without its hosts.
  const program = `
    import { WorkerThread, awaitThat } from "${
    import.meta.resolve("../threads/worker_thread.ts")
  }";
    import { HostThread } from "${import.meta.resolve("./host_thread.ts")}";
    const thread = new HostThread(${JSON.stringify(MODULE)});
    const data = { args: ${JSON.stringify(ARGS)}, text: "hello" };
    const hosts = [0, 1].map(() => new WorkerThread(thread, { data }));
    const finish = (host) => {
      awaitThat(() => host.isReady, thread.events, 20_000);
      return host.finish();
    };
    hosts.forEach(finish);
    hosts[1].begin({ type: "reset" });
    for (const host of hosts.reverse()) {
      try {
        finish(host);
        host.begin({ type: "step" });
        finish(host);
      } catch (error) {
        console.log(error.what);
      }
    }
    Deno.exit();`;
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const code = `data:application/typescript,${encodeURIComponent(program)}`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "-q", `--config=${config}`, code],
  }).output();
  assertEquals(
    new TextDecoder().decode(stdout),
    "it threw RangeError: thrown in the thread\nits worker ended\n",
  );
});
