import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import type { VecEnv } from "@bellman/types";
import { makeVec } from "../../mod.ts";
import { isGone, isProcess } from "../processes/testdata/processes.ts";
import { SubprocessVecEnv } from "../processes/subprocess_vec_env.ts";
import { describeRestart } from "../restarts.ts";
import { RayVecEnv, type RayVecEnvOptions } from "./ray_vec_env.ts";
import { scripted } from "./testdata/scripted.ts";
import type { Script } from "./testdata/scripted_driver.ts";

const PAIR = { numEnvs: 4, processes: 2 };

/** Environments of a script, and the lines that they give. */
function open(script: Script = {}, options: Partial<RayVecEnvOptions> = {}) {
  const lines: string[] = [];
  const env = new RayVecEnv("CartPole-v1", {
    ...PAIR,
    ...scripted(script),
    onNotice: (line) => lines.push(line),
    onRestart: (event) => lines.push(describeRestart(event)),
    ...options,
  });
  return { env, lines };
}

/** Everything that some steps say. */
function play(env: VecEnv, steps = 60): unknown[] {
  return Array.from({ length: steps }, (_, t) => {
    const step = env.step(
      Int32Array.from({ length: 4 }, (_, i) => (t + i) % 2),
    );
    return [
      [...step.observations as Float32Array],
      [...step.rewards],
      [...step.terminated],
    ];
  });
}

Deno.test("the numbers are those of environments here, shipped or not", () => {
  const here = makeVec("CartPole-v1", { numEnvs: 4, recordEpisodes: false });
  here.reset({ seed: 3 });
  const expected = play(here);
  for (const code of ["ship", "here"] as const) {
    const { env, lines } = open({}, { code });
    env.reset({ seed: 3 });
    assertEquals(play(env), expected);
    assertEquals(lines, []);
    env.close();
  }
});

Deno.test("a snapshot of processes goes on in a cluster", () => {
  const near = new SubprocessVecEnv("CartPole-v1", PAIR);
  near.reset({ seed: 5 });
  play(near, 7);
  const snapshot = near.save();
  const { env } = open();
  env.load(snapshot);
  assertEquals(play(env), play(near));
  near.close();
  env.close();
});

Deno.test("a module of the folder is that of its copy, and no other may be named", () => {
  const module = import.meta.resolve("./testdata/where_env.ts");
  const folder = Deno.makeTempDirSync(), copy = `${folder}/copy`;
  // The root of the packages, by another name.
  Deno.symlinkSync(new URL("../../../", import.meta.url).pathname, copy);
  const env = new RayVecEnv({ module }, { ...PAIR, ...scripted({ copy }) });
  env.reset();
  const seen = String.fromCharCode(
    ...(env.observations() as Uint8Array).subarray(0, copy.length),
  );
  assertEquals(seen, copy);
  env.close();
  Deno.removeSync(folder, { recursive: true });
  assertThrows(
    () =>
      new RayVecEnv({ module: "file:///elsewhere/env.ts" }, {
        ...PAIR,
        ...scripted(),
      }),
    TypeError,
    "Cannot ship file:///elsewhere/env.ts to the cluster: expected a module in ",
  );
});

Deno.test("a process that is killed is replaced, and its episodes end once", () => {
  const { env, lines } = open();
  env.reset({ seed: 0 });
  Deno.kill(env.pids()[1], "SIGKILL");
  const step = env.step(new Int32Array(4));
  assertEquals([...step.truncated], [0, 0, 1, 1]);
  assertEquals(lines, [
    "Restarting environments 2 to 3 of CartPole-v1, restart 1 of at most 10 within 600 s: its process was ended by SIGKILL",
  ]);
  assertEquals([...env.step(new Int32Array(4)).truncated], [0, 0, 0, 0]);
  env.close();
});

Deno.test("a process whose end nobody tells is given up, with its node", () => {
  const log = Deno.makeTempFileSync();
  const { env, lines } = open({ isMute: true, log });
  env.reset({ seed: 0 });
  Deno.kill(env.pids()[0], "SIGKILL");
  env.step(new Int32Array(4));
  assertMatch(lines[0], /: its connection was closed$/);
  const orders = Deno.readTextFileSync(log).trim().split("\n")
    .map((it) => JSON.parse(it));
  assertEquals(
    orders.map(({ kind, child, process }) => [kind, child, process]).slice(
      2,
      5,
    ),
    [[3, 0, orders[0].process], [2, 0, orders[0].process], [
      1,
      0,
      orders[4].process,
    ]],
  );
  env.close();
  Deno.removeSync(log);
});

Deno.test("a node without what is imported says so, and what to run there", () => {
  const program = Deno.makeTempFileSync();
  const said =
    'npm package not found in cache: "a", --cached-only is specified';
  const script = `#!/bin/sh\necho '${said}.\n\nStack: 0' >&2\nexit 1\n`;
  Deno.writeTextFileSync(program, script);
  Deno.chmodSync(program, 0o755);
  assertThrows(
    () => open({ program }),
    Error,
    "Cannot start environments 0 to 1: node 127.0.0.1 has no 'a' in the cache of its Deno: run 'deno cache envs/mod.ts' there",
  );
  Deno.removeSync(program);
});

Deno.test("a process that is silent is given up", () => {
  const { env, lines } = open({}, { stepTimeoutMs: 700 });
  env.reset({ seed: 0 });
  const [pid] = env.pids();
  Deno.kill(pid, "SIGSTOP");
  assertEquals([...env.step(new Int32Array(4)).truncated], [1, 1, 0, 0]);
  assertMatch(lines[0], /: it gave no answer within 700 ms$/);
  env.close();
});

Deno.test("a driver that is lost takes all with it, and a new one begins", async () => {
  const { env, lines } = open();
  env.reset({ seed: 0 });
  const driver = await parentOf(env.pids()[0]);
  Deno.kill(driver, "SIGKILL");
  const { truncated } = env.step(new Int32Array(4));
  assertEquals([...truncated], [1, 1, 1, 1]);
  assertEquals(
    lines.map((it) => it.split(": ")[1]),
    Array(2).fill("it was lost with Ray's driver"),
  );
  assertEquals([...env.step(new Int32Array(4)).truncated], [0, 0, 0, 0]);
  env.close();
});

Deno.test("a cluster that is gone for good ends the environments with a sentence", async () => {
  const folder = Deno.makeTempDirSync();
  const { env } = open({ once: `${folder}/once` }, { restarts: 2 });
  env.reset({ seed: 0 });
  Deno.kill(await parentOf(env.pids()[0]), "SIGKILL");
  assertThrows(
    () => env.step(new Int32Array(4)),
    Error,
    "and now Cannot reach the Ray cluster at there: nothing listens",
  );
  env.close();
  Deno.removeSync(folder, { recursive: true });
});

const REFUSED: [
  what: string,
  script: Script,
  options: Partial<RayVecEnvOptions>,
  message: string,
][] = [
  [
    "a driver that says why",
    { refusal: "Cannot use this: expected that" },
    {},
    "Cannot use this: expected that",
  ],
  [
    "a driver of another protocol",
    { hello: { protocol: 2 } },
    {},
    "as Python with Ray: it gives no answer",
  ],
  [
    "no Python",
    {},
    { python: "/no/python" },
    "Cannot start Python '/no/python': ",
  ],
  [
    "too few CPUs",
    { hello: { cpus: 1 } },
    {},
    "Cannot start 2 hosts: the cluster at {",
  ],
  [
    "a node that lacks Deno",
    { failure: "node 10.0.0.2 has no program 'deno'" },
    {},
    "Cannot start environments 0 to 1: node 10.0.0.2 has no program 'deno'",
  ],
  [
    "an address that is not of this machine",
    {},
    { listen: "192.0.2.1" },
    "Cannot listen at 192.0.2.1",
  ],
  ["a port that is none", {}, { listen: "here:70000" }, "expected HOST or"],
  [
    "a host without the secret",
    { isStranger: true },
    { startTimeoutMs: 500 },
    "Cannot start environments 0 to 1: it gave no answer within 500 ms",
  ],
  [
    "fewer environments than processes",
    {},
    { processes: 5 },
    "Cannot host 4 environments in 5 groups",
  ],
];

for (const [what, script, options, message] of REFUSED) {
  Deno.test(`${what}: a sentence, and nothing is left`, () => {
    assertThrows(() => open(script, options), Error, message);
  });
}

Deno.test("the cluster's state is told: hosts that wait, and doors that are open", () => {
  const waiting = { wanted: 2, free: 0, cpus: 8 };
  const { env, lines } = open({
    waiting,
    hello: { secured: false, cpus: 1, scales: true },
  });
  env.close();
  assertMatch(
    lines[0],
    /asks for no token: whoever reaches it runs code on it/,
  );
  assertEquals(lines.slice(1), [
    "Waiting for 2 CPUs: the cluster has 8, all in use",
  ]);
});

Deno.test("nothing is left after the end", async () => {
  const { env } = open();
  const pids = env.pids(), driver = await parentOf(pids[0]);
  env.close();
  env.close();
  for (const pid of [...pids, driver]) assert(await isGone(pid));
  assertEquals(pids.map(isProcess), [false, false]);
});

async function parentOf(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("ps", {
    args: ["-o", "ppid=", "-p", String(pid)],
  }).output();
  return Number(new TextDecoder().decode(stdout));
}
