import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { HostFailure } from "../host_failure.ts";
import { ChildProcess, describeEnd, PARENT } from "./child.ts";
import { frameOf } from "./frames.ts";
import { assertNoneLeft, isGone, isProcess } from "./testdata/processes.ts";

const COMMAND = {
  program: Deno.execPath(),
  args: [
    "run",
    "--no-check",
    "-q",
    new URL("./testdata/child.ts", import.meta.url).pathname,
  ],
};

function tell(child: ChildProcess, text: string): void {
  child.send(frameOf(new TextEncoder().encode(text)));
}

async function hear(child: ChildProcess): Promise<string> {
  return new TextDecoder().decode(await child.receive());
}

function ask(child: ChildProcess, text: string): Promise<string> {
  tell(child, text);
  return hear(child);
}

/** Uses a child that is ended afterwards; returns what it printed. */
async function withChild(
  use: (child: ChildProcess) => void | Promise<void>,
  ...args: string[]
): Promise<string> {
  const all = [...COMMAND.args, ...args];
  const child = new ChildProcess({ ...COMMAND, args: all });
  try {
    await use(child);
  } finally {
    await child.close(true);
  }
  return child.end!.prints;
}

Deno.test("messages come back whole, however long they are", async () => {
  await withChild(async (child) => {
    assertEquals(await ask(child, "echo"), "echo");
    assertEquals(await ask(child, ""), "");
    for (const length of [65_535, 65_536, 65_537, 1_000_000, 3]) {
      const text = "abcdefg".repeat(length).slice(0, length);
      assert(await ask(child, text) === text);
      tell(child, `large ${length}`);
      assertEquals(await child.receive(), new Uint8Array(length).fill(7));
    }
  });
});

Deno.test("messages wait to be received, in order", async () => {
  await withChild(async (child) => {
    tell(child, "twice 1");
    tell(child, "twice 2");
    const all: string[] = [];
    for (let i = 0; i < 4; i++) all.push(await hear(child));
    assertEquals(all, ["twice 1", "twice 1", "twice 2", "twice 2"]);
  });
});

Deno.test("what a child prints is kept out of its messages", async () => {
  const prints = await withChild(async (child) => {
    assertEquals(await ask(child, "print hello"), "print hello");
    await ask(child, "sleep 20");
  });
  assertEquals(
    prints.trim().split("\n").sort(),
    ["stderr says hello", "stdout says hello"],
  );
});

Deno.test("the last 64 kB of the prints are kept", async () => {
  const prints = await withChild(async (child) => {
    await ask(child, "flood 100000");
    await ask(child, "sleep 50");
  });
  assertEquals(prints.length, 65_536);
  assertEquals(prints.trim().slice(-9), "xxthe end");
});

Deno.test("a child that ends is told, with its own error", async () => {
  await withChild(async (child) => {
    await ask(child, "hello");
    const error = await assertRejects(() => ask(child, "throw"), HostFailure);
    assertEquals(error.reason, "exit");
    assert(error.stack!.includes("the child's own error"));
    assertEquals(child.end!.code, 1);
    // It stays so, whatever is sent.
    tell(child, "echo");
    await assertRejects(() => ask(child, "echo"), HostFailure, "with code 1");
  });
});

Deno.test("a child that is killed from outside is told with the signal", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await withChild(async (child) => {
    await ask(child, "hello");
    tell(child, "sleep 60000");
    Deno.kill(child.pid, "SIGKILL");
    await assertRejects(
      () => hear(child),
      HostFailure,
      "its process was ended by SIGKILL",
    );
  });
});

Deno.test("a program that is not there is told", async () => {
  const child = new ChildProcess({ program: "no-such-program-anywhere" });
  await assertRejects(
    () => child.receive(),
    HostFailure,
    "its process could not be started: ",
  );
  assertEquals([child.pid, child.end!.code], [0, undefined]);
  await child.close(false);
});

Deno.test("closing leaves no process, not even a stubborn one", async () => {
  const ends: unknown[] = [];
  for (const args of [[], ["stubborn"]]) {
    await withChild(async (child) => {
      await ask(child, "print hello");
      await ask(child, "sleep 20");
      const prints = await child.close(false);
      assert(prints.includes("stderr says hello"));
      assert(!isProcess(child.pid));
      ends.push(child.end!.signal ?? child.end!.code);
    }, ...args);
  }
  assertEquals(ends, [0, "SIGKILL"]);
});

Deno.test("an argument stands for the process that starts a child", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const script = 'echo "$1 $2 $PPID" >&2';
  const args = ["-c", script, "sh", PARENT, `x${PARENT}`];
  const child = new ChildProcess({ program: "sh", args });
  await assertRejects(() => child.receive(), HostFailure, "with code 0");
  assertEquals(child.end!.prints, `${Deno.pid} x{parent} ${Deno.pid}\n`);
  await child.close(true);
});

Deno.test("no descriptor is left behind [Linux]", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const round = () =>
    withChild(async (child) => assertEquals(await ask(child, "echo"), "echo"));
  for (let i = 0; i < 2; i++) await round();
  await assertNoneLeft(async () => {
    for (let i = 0; i < 4; i++) await round();
  });
});

const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** Runs a program that has a child, whose prints are shown. */
function runProgram(
  source: string,
  options: Deno.CommandOptions = {},
): Deno.ChildProcess {
  const program = `
    import { ChildProcess } from "${import.meta.resolve("./child.ts")}";
    import { frameOf } from "${import.meta.resolve("./frames.ts")}";
    const child = new ChildProcess(${JSON.stringify(COMMAND)}, true);
    const ask = (text) => child.ask(frameOf(new TextEncoder().encode(text)));
    ${source}`;
  const code = `data:application/typescript,${encodeURIComponent(program)}`;
  return new Deno.Command(Deno.execPath(), {
    // Beside a program that is no file, Deno looks for no configuration.
    args: ["run", "-A", "--no-check", "-q", `--config=${CONFIG}`, code],
    stdout: "piped",
    ...options,
  }).spawn();
}

Deno.test("a child ends with the process that started it", async () => {
  const parent = runProgram(`
    await ask("hello");
    console.log(child.pid);
    await ask("sleep 300");
    await child.receive();`);
  const reader = parent.stdout.getReader();
  const { value } = await reader.read();
  const pid = Number(new TextDecoder().decode(value));
  assert(isProcess(pid));
  parent.kill("SIGKILL");
  await parent.status;
  await reader.cancel();
  assert(await isGone(pid));
});

Deno.test("a child whose prints nobody reads any more goes on", async () => {
  const parent = runProgram(
    `
    Deno.stdin.readSync(new Uint8Array(1));
    for (const text of ["print a", "print b", "echo", "sleep 50"]) {
      await ask(text);
    }
    await child.close(true);
    console.log(child.end.prints);`,
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

Deno.test("the end of a child is told by what it said last", () => {
  const said = (prints: string) => describeEnd({ code: 1, prints });
  const error = "TypeError: no ball";
  for (
    const prints of [
      `x = 1\n\n${error}\n    at f (a.js:1:2)\n    at b.js:3\n\nNode.js v22.1.0\n`,
      `error: ${error}\n    at file:///game.ts:1:2\n`,
      `Traceback\n  File "game.py", line 1\n${error}`,
    ]
  ) {
    assertMatch(
      said(prints),
      /its last line is '(error: )?TypeError: no ball'$/,
    );
  }
  assertEquals(said(" \n"), "ended with code 1");
});
