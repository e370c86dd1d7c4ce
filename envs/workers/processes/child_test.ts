import { HostFailure } from "../host_failure.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ChildGroup, type ChildGroupOptions, PARENT } from "./child_group.ts";
import { MessagePort } from "node:worker_threads";
import { CAN_START_FAR, startFar } from "./testdata/far.ts";
import { assertNoneLeft, isGone, isProcess } from "./testdata/processes.ts";

const CHILD = {
  program: Deno.execPath(),
  args: [
    "run",
    "--no-check",
    "-q",
    new URL("./testdata/child.ts", import.meta.url).pathname,
  ],
};

/** A group of test children that is closed at the end. */
function withGroup(
  size: number,
  use: (group: ChildGroup) => void,
  options?: ChildGroupOptions,
): void {
  const group = new ChildGroup(options);
  for (let child = 0; child < size; child++) group.start(child, CHILD);
  try {
    use(group);
  } finally {
    group.close();
  }
}

function send(group: ChildGroup, child: number, text: string): void {
  group.send(child, new TextEncoder().encode(text));
}

function receive(group: ChildGroup, child: number, timeoutMs = 20_000): string {
  const bytes = group.receive(child, timeoutMs);
  return new TextDecoder().decode(bytes.slice());
}

function ask(group: ChildGroup, child: number, text: string): string {
  send(group, child, text);
  return receive(group, child);
}

/** Ends the first child; returns what it printed. */
function printsOf(group: ChildGroup): string {
  group.kill(0);
  return group.end(0)!.prints;
}

const isLinux = Deno.build.os === "linux";

Deno.test("messages come back whole, however long they are", () => {
  withGroup(1, (group) => {
    assertEquals(ask(group, 0, "echo"), "echo");
    assertEquals(ask(group, 0, ""), "");
    for (const length of [65_535, 65_536, 65_537, 1_000_000, 3]) {
      const text = "abcdefg".repeat(length).slice(0, length);
      assert(ask(group, 0, text) === text);
      send(group, 0, `large ${length}`);
      const answer = group.receive(0, 20_000);
      assertEquals(answer.length, length);
      assert(answer.every((byte) => byte === 7));
    }
  });
});

/** Whether there is a view of memory in something that is posted. */
function holdsView(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ArrayBuffer.isView(value) || Object.values(value).some(holdsView);
}

const { postMessage } = MessagePort.prototype;

Deno.test("memory is posted as buffers, of which no number is copied", () => {
  const posted: { type?: string; memory?: ArrayBuffer }[] = [];
  MessagePort.prototype.postMessage = function (message, ...rest): void {
    postMessage.call(this, message, ...rest);
    posted.push(message);
  };
  try {
    withGroup(1, (group) => {
      const length = 1_000_000;
      assertEquals(ask(group, 0, "a".repeat(length)).length, length);
    });
  } finally {
    MessagePort.prototype.postMessage = postMessage;
  }
  assertEquals(posted.map((it) => it.type), ["start", undefined, "close"]);
  assertEquals(posted[1].memory!.detached, true);
  assert(!posted.some(holdsView));
});

Deno.test("a message is sent in parts as one", () => {
  withGroup(1, (group) => {
    group.send(0, Uint8Array.of(97), new Uint8Array(0), Uint8Array.of(98, 99));
    assertEquals(receive(group, 0), "abc");
  });
});

Deno.test("messages wait for the caller in order", () => {
  withGroup(1, (group) => {
    send(group, 0, "twice 1");
    send(group, 0, "twice 2");
    const all = [1, 2, 3, 4].map(() => receive(group, 0));
    assertEquals(all, ["twice 1", "twice 1", "twice 2", "twice 2"]);
  });
});

Deno.test("all children are waited for, those that have ended too", () => {
  withGroup(2, (group) => {
    for (const child of [0, 1]) ask(group, child, "hello");
    send(group, 0, "sleep 400");
    send(group, 1, "exit 3");
    assertEquals(group.waitFor([0, 1], 0), false);
    assertEquals(group.waitFor([0, 1]), true);
    assertEquals(group.end(1)?.code, 3);
  });
});

Deno.test("what a child prints is kept out of its messages", () => {
  withGroup(1, (group) => {
    assertEquals(ask(group, 0, "print hello"), "print hello");
    ask(group, 0, "sleep 20");
    assertEquals(
      printsOf(group).trim().split("\n").sort(),
      ["stderr says hello", "stdout says hello"],
    );
  });
});

Deno.test("the last 64 kB of the prints are kept", () => {
  withGroup(1, (group) => {
    ask(group, 0, "flood 100000");
    ask(group, 0, "sleep 50");
    const prints = printsOf(group);
    assertEquals(prints.length, 65_536);
    assertEquals(prints.trim().slice(-9), "xxthe end");
  });
});

Deno.test("a child that ends is told at once, with its own error", () => {
  withGroup(2, (group) => {
    ask(group, 0, "hello");
    send(group, 0, "throw");
    const error = assertThrows(() => receive(group, 0), HostFailure);
    assertEquals(error.reason, "exit");
    assert(error.stack!.includes("the child's own error"));
    assertEquals(group.end(0)?.code, 1);
    // It stays so, whatever is sent; the others go on.
    send(group, 0, "echo");
    send(group, 0, "echo");
    assertThrows(() => receive(group, 0), HostFailure);
    assertEquals(ask(group, 1, "echo"), "echo");
    assertEquals(group.end(1), undefined);
  });
});

Deno.test("a child that is killed from outside is told with the signal", {
  ignore: Deno.build.os === "windows",
}, () => {
  withGroup(1, (group) => {
    ask(group, 0, "hello");
    send(group, 0, "sleep 60000");
    Deno.kill(group.pid(0), "SIGKILL");
    assertThrows(
      () => receive(group, 0),
      HostFailure,
      "its process was ended by SIGKILL",
    );
  });
});

Deno.test("a silent child is told after the time-out and can be replaced", () => {
  withGroup(1, (group) => {
    ask(group, 0, "print before");
    send(group, 0, "sleep 60000");
    const error = assertThrows(
      () => receive(group, 0, 50),
      HostFailure,
      "it is silent",
    );
    assertEquals(error.reason, "timeout");
    assert(error.stack!.includes("stderr says before"));
    const pid = group.pid(0);
    group.start(0, CHILD);
    assertEquals(ask(group, 0, "echo"), "echo");
    assertEquals(printsOf(group), "");
    assert(group.pid(0) !== pid);
    assert(!isProcess(pid));
  });
});

Deno.test("a child can be replaced after its end, many times", () => {
  withGroup(1, (group) => {
    for (let round = 0; round < 3; round++) {
      assertEquals(ask(group, 0, `round ${round}`), `round ${round}`);
      send(group, 0, "exit 0");
      assertThrows(() => receive(group, 0), HostFailure, "with code 0");
      group.start(0, CHILD);
    }
  });
});

Deno.test("a program that is not there is told", () => {
  const group = new ChildGroup();
  group.start(0, { program: "no-such-program-anywhere" });
  const error = assertThrows(() => group.receive(0), HostFailure);
  assert(error.message.includes("could not be started"));
  assertEquals(group.end(0)?.code, undefined);
  group.start(0, CHILD);
  assertEquals(ask(group, 0, "echo"), "echo");
  group.close();
});

Deno.test("closing leaves no process, not even a stubborn one", () => {
  const stubborn = { ...CHILD, args: [...CHILD.args, "stubborn"] };
  const group = new ChildGroup({ graceMs: 100 });
  const pids = [CHILD, stubborn, CHILD].map((command, child) => {
    group.start(child, command);
    ask(group, child, "hello");
    return group.pid(child);
  });
  send(group, 2, "sleep 60000");
  assert(pids.every(isProcess));
  group.close();
  group.close();
  assertEquals(pids.map(isProcess), [false, false, false]);
  assertThrows(() => group.receive(0), TypeError, "that were closed");
});

Deno.test("a group that is closed while it starts leaves nothing", () => {
  for (let round = 0; round < 5; round++) {
    withGroup(2, () => {}, { graceMs: 0 });
  }
});

Deno.test("an argument stands for the process that starts a child", {
  ignore: Deno.build.os === "windows",
}, () => {
  const group = new ChildGroup();
  const script = 'echo "$1 $2 $PPID" >&2';
  const args = ["-c", script, "sh", PARENT, `x${PARENT}`];
  group.start(0, { program: "sh", args });
  assertThrows(() => group.receive(0, 20_000), HostFailure, "with code 0");
  assertEquals(
    group.end(0)!.prints,
    `${Deno.pid} x{parent} ${Deno.pid}\n`,
  );
  group.close();
});

Deno.test("a condition of several children is waited for", () => {
  withGroup(3, (group) => {
    for (const child of [0, 1, 2]) ask(group, child, "hello");
    const ready = (): number[] =>
      [0, 1, 2].filter((it) => group.waitFor([it], 0));
    assertEquals(group.wait(() => ready().length > 0, 0), false);
    send(group, 1, "sleep 50");
    send(group, 2, "exit 3");
    assertEquals(group.wait(() => ready().length >= 2), true);
    assertEquals(ready(), [1, 2]);
    assertEquals(receive(group, 1), "sleep 50");
    assertEquals(group.wait(() => ready().includes(0), 20), false);
  });
});

Deno.test("news that come while a condition is asked are not missed", () => {
  withGroup(2, (group) => {
    for (const child of [0, 1]) ask(group, child, "hello");
    // Its answer would wake who has missed that of the other.
    send(group, 1, "sleep 5000");
    const answers: boolean[][] = [];
    const isOneReady = (): boolean => {
      const ready = [group.waitFor([0], 0)];
      if (answers.length === 0) {
        send(group, 0, "echo");
        // Takes its answer, as a question about the other child may do.
        group.waitFor([0]);
      }
      ready.push(group.waitFor([1], 0));
      answers.push(ready);
      return ready.includes(true);
    };
    assertEquals(group.wait(isOneReady), true);
    assertEquals(answers, [[false, false], [true, false]]);
  }, { graceMs: 0 });
});

const LISTEN = { hostname: "127.0.0.1", unproven: 20 };

/** A group that listens, and processes that another machine would start. */
class FarGroup implements AsyncDisposable {
  readonly group: ChildGroup;
  readonly port: number;
  readonly #processes: Deno.ChildProcess[] = [];

  constructor(options?: ChildGroupOptions) {
    this.group = new ChildGroup(options);
    this.port = this.group.listen(LISTEN);
  }

  /** Starts the process of a child. */
  start(secret: string, ...args: string[]): Deno.ChildProcess {
    const process = startFar({ port: this.port, secret }, ...args);
    this.#processes.push(process);
    return process;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.group.close();
    // Each has been told the end of its input.
    await Promise.all(this.#processes.map((it) => it.status));
  }
}

const ignore = !CAN_START_FAR;

Deno.test(
  "a child of another machine is as one of this",
  { ignore },
  async () => {
    await using far = new FarGroup();
    const { group } = far;
    group.start(1, CHILD);
    const { secret, process } = group.expect(3);
    assert(/^[0-9a-f]{32}$/.test(secret), secret);
    assert(group.expect(4).process !== process);
    // What it is told first waits for it.
    send(group, 3, "print hello");
    assertEquals(group.waitFor([3], 0), false);
    far.start(secret);
    assertEquals(receive(group, 3), "print hello");
    for (const length of [1, 65_535, 65_537, 1_000_000, 3]) {
      const text = "abcdefg".repeat(length).slice(0, length);
      assert(ask(group, 3, text) === text);
      send(group, 3, `large ${length}`);
      assertEquals(group.receive(3, 20_000), new Uint8Array(length).fill(7));
    }
    assertEquals([group.pid(3), group.end(3)], [0, undefined]);
    send(group, 3, "twice");
    send(group, 1, "here");
    assertEquals(group.waitFor([1, 3], 20_000), true);
    assertEquals(receive(group, 1), "here");
    send(group, 3, "exit 3");
    assertEquals([receive(group, 3), receive(group, 3)], ["twice", "twice"]);
    const error = assertThrows(() => receive(group, 3), HostFailure);
    assertEquals(error.reason, "exit");
    assertEquals(error.message, "its connection was closed");
    const failure = "its connection was closed";
    assertEquals(group.end(3), { failure, prints: "" });
  },
);

Deno.test("a child of another machine that is silent loses its connection", {
  ignore,
}, async () => {
  await using far = new FarGroup();
  const { group } = far;
  // Silent as it never comes, then as it does nothing.
  const never = group.expect(0);
  assertThrows(() => receive(group, 0, 50), HostFailure, "it is silent");
  const { secret } = group.expect(0);
  const late = far.start(never.secret);
  const process = far.start(secret);
  assertEquals(ask(group, 0, "hello"), "hello");
  send(group, 0, "sleep 300");
  assertThrows(() => receive(group, 0, 50), HostFailure, "it is silent");
  assertEquals(group.end(0)?.failure, "its connection was closed");
  // Neither has anybody to talk to.
  await Promise.all([late.status, process.status]);
});

Deno.test("another process takes the place of a child of another machine", {
  ignore,
}, async () => {
  await using far = new FarGroup();
  const { group } = far;
  const first = group.expect(0);
  far.start(first.secret);
  assertEquals(ask(group, 0, "first"), "first");
  // Its answer comes late, or never.
  send(group, 0, "twice");
  const second = group.expect(0);
  assert(second.process !== first.process);
  assert(second.secret !== first.secret);
  far.start(first.secret);
  far.start(second.secret);
  assertEquals(ask(group, 0, "second"), "second");
  group.start(0, CHILD);
  assertEquals(ask(group, 0, "here"), "here");
  const pid = group.pid(0);
  far.start(group.expect(0).secret);
  assert(!isProcess(pid));
  assertEquals(ask(group, 0, "there"), "there");
  assertEquals(group.waitFor([0], 100), false);
});

Deno.test(
  "a child of another machine has time to end by itself",
  { ignore },
  async () => {
    const far = new FarGroup();
    const { group } = far;
    const process = far.start(group.expect(0).secret);
    assertEquals(ask(group, 0, "hello"), "hello");
    send(group, 0, "sleep 100");
    await far[Symbol.asyncDispose]();
    assertEquals((await process.status).code, 0);
  },
);

Deno.test("closing leaves no connection, whatever the other side does", async () => {
  const group = new ChildGroup({ graceMs: 50 });
  const { hostname } = LISTEN, port = group.listen(LISTEN);
  const { secret } = group.expect(0);
  group.expect(1);
  const conns = [
    await Deno.connect({ hostname, port }),
    await Deno.connect({ hostname, port }),
  ];
  await conns[0].write(new TextEncoder().encode(secret));
  send(group, 0, "hello");
  assertEquals(await conns[0].read(new Uint8Array(100)), 17);
  group.close();
  for (const conn of conns) {
    assertEquals(await conn.read(new Uint8Array(1)), null);
    conn.close();
  }
  await assertRejects(
    () => Deno.connect({ hostname, port }),
    Deno.errors.ConnectionRefused,
  );
});

Deno.test("a group that cannot listen says so", () => {
  const { hostname } = LISTEN;
  const first = new ChildGroup(), second = new ChildGroup();
  assertThrows(
    () => first.expect(0),
    TypeError,
    "Cannot expect a child of another machine as this group does not listen",
  );
  const port = first.listen(LISTEN);
  const listen = (): number => second.listen({ ...LISTEN, port });
  assertThrows(
    listen,
    Error,
    `Cannot listen at ${hostname}:${port}: `,
  );
  assertThrows(
    () => first.listen(LISTEN),
    TypeError,
    "Cannot listen for children as this group does so already",
  );
  // It may try again, at a port that nobody else has taken meanwhile.
  first.close();
  assert(second.listen(LISTEN) > 0);
  second.close();
  assertThrows(() => second.listen(LISTEN), TypeError, "that were closed");
});

Deno.test("it cannot listen at an address of another machine", async () => {
  // A process of its own, which may.
  const { success, stdout } = await runProgram(`
    try {
      group.listen({ hostname: "203.0.113.1", unproven: 1 });
    } catch (error) {
      console.log(error.name, error.message);
    }
    console.log(typeof group.listen({ hostname: "127.0.0.1", unproven: 1 }));
    group.expect(1);`).output();
  assert(success);
  const [said, type] = new TextDecoder().decode(stdout).split("\n");
  assert(/^Error Cannot listen at 203.0.113.1:0: [^()]+$/.test(said), said);
  assertEquals(type, "number");
});

Deno.test(
  "no descriptor is left behind [Linux]",
  { ignore: !isLinux },
  async () => {
    const round = (): void => {
      withGroup(1, (group) => assertEquals(ask(group, 0, "echo"), "echo"));
    };
    for (let i = 0; i < 2; i++) round();
    await assertNoneLeft(() => {
      for (let i = 0; i < 4; i++) round();
    });
  },
);

Deno.test(
  "no descriptor of a connection is left behind [Linux]",
  { ignore: !isLinux },
  async () => {
    const round = async (): Promise<void> => {
      await using far = new FarGroup();
      far.start(far.group.expect(0).secret);
      assertEquals(ask(far.group, 0, "echo"), "echo");
      far.group.expect(1);
    };
    for (let i = 0; i < 1; i++) await round();
    await assertNoneLeft(async () => {
      for (let i = 0; i < 3; i++) await round();
    });
  },
);

const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** Runs a program that has a group of one child. */
function runProgram(
  source: string,
  options: Deno.CommandOptions = {},
): Deno.ChildProcess {
  const module = new URL("./child_group.ts", import.meta.url).href;
  const program = `
    import { ChildGroup } from "${module}";
    const group = new ChildGroup({ showPrints: true });
    group.start(0, ${JSON.stringify(CHILD)});
    ${source}`;
  const code = `data:application/typescript,${encodeURIComponent(program)}`;
  return new Deno.Command(Deno.execPath(), {
    // Beside a program that is no file, Deno looks for no configuration.
    args: ["run", "-A", "--no-check", "-q", `--config=${CONFIG}`, code],
    stdout: "piped",
    ...options,
  }).spawn();
}

/** Tells the process of the child. */
const TELL_CHILD = `
    group.send(0, Uint8Array.of(1));
    group.receive(0);
    console.log(group.pid(0));`;

Deno.test("a program that forgets to close its group ends, and so do they", async () => {
  const { success, stdout } = await runProgram(TELL_CHILD).output();
  assert(success);
  assert(await isGone(Number(new TextDecoder().decode(stdout))));
});

Deno.test("nothing is waited for once the worker has failed", async () => {
  // A process of its own, as Deno prints what the worker threw.
  const { success, stdout, stderr } = await runProgram(
    `
    import { MessagePort, Worker } from "node:worker_threads";
    const { on } = Worker.prototype, failed = Promise.withResolvers();
    Worker.prototype.on = function (event, listener) {
      on.call(this, "error", failed.resolve);
      this.ref();
      return on.call(this, event, listener);
    };
    const { postMessage } = MessagePort.prototype;
    // No worker can read that.
    MessagePort.prototype.postMessage = function () {
      postMessage.call(this, null);
    };
    const failing = new ChildGroup({ graceMs: 1e9 });
    failing.start(0, { program: "any" });
    await failed.promise;
    failing.close();
    console.log("closed");`,
    { stderr: "piped" },
  ).output();
  const [out, error] = [stdout, stderr].map((it) =>
    new TextDecoder().decode(it)
  );
  assert(success, error);
  assertEquals(out, "closed\n");
  assert(error.includes("Uncaught (in worker"), error);
});

Deno.test("children end with the process that started them", async () => {
  const parent = runProgram(`${TELL_CHILD}
    group.send(0, new TextEncoder().encode("sleep 300"));
    group.receive(0);
    group.receive(0);`);
  const reader = parent.stdout.getReader();
  const { value } = await reader.read();
  const pid = Number(new TextDecoder().decode(value));
  assert(isProcess(pid));
  parent.kill("SIGKILL");
  await parent.status;
  await reader.cancel();
  assert(await isGone(pid));
});

Deno.test("children whose prints nobody reads any more go on", async () => {
  const parent = runProgram(
    `
    Deno.stdin.readSync(new Uint8Array(1));
    for (const text of ["print a", "print b", "echo"]) {
      group.send(0, new TextEncoder().encode(text));
      group.receive(0, 20_000);
    }
    group.send(0, new TextEncoder().encode("sleep 50"));
    group.receive(0, 20_000);
    group.kill(0);
    console.log(group.end(0).prints);
    group.close();`,
    { stdin: "piped", stderr: "piped" },
  );
  await parent.stderr.cancel();
  await parent.stdin.close();
  const { success, stdout } = await parent.output();
  assert(success);
  const prints = new TextDecoder().decode(stdout);
  assert(prints.includes("stderr says a"), prints);
  assert(prints.includes("stderr says b"), prints);
});

Deno.test("children that cannot be served are one clear error at once", {
  permissions: { run: true },
}, () => {
  assertThrows(
    () => new ChildGroup(),
    Deno.errors.NotCapable,
    "Cannot start workers without the permission to read",
  );
});
