import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { Host } from "./mod.ts";
import type { GameReset, GameWorld, WatchedStep } from "./mod.ts";
import { connect } from "./connect.ts";
import { RandomStream } from "./random.ts";
import { replace, revive } from "./saved_text.ts";
import { Counter, type CounterOptions } from "./testdata/counter.ts";

const OPEN = { type: "open", protocol: 1, numEnvs: 1, first: 0, kwargs: {} };

/** Sends text; returns what the answer says, or its bytes. */
async function tell(
  host: Host,
  text: object,
): Promise<Record<string, unknown>> {
  const answer = await host.answer(JSON.stringify(text));
  return typeof answer === "string"
    ? JSON.parse(answer)
    : { bytes: answer.slice() };
}

/** Takes a step of whole numbers as actions. */
async function step(
  host: Host,
  actions: number[],
  kind = 3,
): Promise<DataView | string> {
  const message = new Uint8Array(8 + 8 * Math.ceil(actions.length / 2));
  message[0] = kind;
  new Int32Array(message.buffer, 8).set(actions);
  const answer = await host.answer(message);
  if (typeof answer === "string") return JSON.parse(answer).message;
  return new DataView(answer.slice().buffer);
}

async function opened(
  make: () => GameWorld,
  numEnvs = 1,
  seeds = Array(numEnvs).fill(1),
): Promise<Host> {
  const host = new Host(make);
  const { type, message } = await tell(host, { ...OPEN, numEnvs });
  assertEquals(type, "opened", String(message));
  await tell(host, { type: "reset", seeds });
  return host;
}

const counter = (options: CounterOptions = {}) => () => new Counter(options);

Deno.test("values of dicts and of actions with parts are laid out by leaf", async () => {
  const host = await opened(counter({ kind: "dict", actions: "multi" }));
  const answer = await step(host, [2, 1]);
  assert(answer instanceof DataView);
  // x is 2: at, seen, mode, and the reward.
  assertEquals(answer.getFloat64(8, true), 1);
  assertEquals([16, 17, 18].map((at) => answer.getUint8(at)), [2, 1, 7]);
  assertEquals(answer.getInt32(24, true), 1);
  assertEquals(answer.getFloat64(32, true), 1);
});

Deno.test("agents are rows, whose world is seeded by the first", async () => {
  const host = await opened(counter({ agents: 2 }), 4, [2, 9, 0, 9]);
  const answer = await step(host, [1, 1, 2, 0]);
  assert(answer instanceof DataView);
  const seen = Array.from(
    { length: 8 },
    (_, i) => answer.getFloat32(8 + 4 * i, true),
  );
  assertEquals(seen, [.125, 1, -.125, 1, .125, 1, -.125, 1]);
});

/** An agent that ends goes on elsewhere, as its world does. */
class Reborn {
  readonly observationSpace = {
    ...{ type: "box", shape: [1], low: -9, high: 9, dtype: "float64" } as const,
  };
  readonly actionSpace = { type: "discrete", n: 2 } as const;
  readonly agents = 2;
  resets = 0;

  reset() {
    this.resets++;
    return [[0], [0]];
  }

  step([dies]: number[]) {
    return {
      observation: [[1], [2]],
      reward: [1, 2],
      terminated: [dies === 1, false],
      truncated: [false, false],
      ...dies === 1 && { next: [[5], undefined] },
    };
  }
}

Deno.test("an agent is reborn while its world goes on", async () => {
  const world = new Reborn(), host = await opened(() => world, 2);
  const answer = await step(host, [1, 0]);
  assert(answer instanceof DataView);
  const numbers = Array.from(
    { length: 4 },
    (_, i) => answer.getFloat64(8 + 8 * i, true),
  );
  assertEquals(numbers, [5, 2, 1, 2]);
  assertEquals([answer.getUint8(40), answer.getFloat64(48, true)], [1, 1]);
  assertEquals(world.resets, 1);
});

Deno.test("a world of which some agents end is not reset under the others", async () => {
  class Half extends Reborn {
    override step(actions: number[]) {
      const { next: _, ...step } = super.step(actions);
      return step as ReturnType<Reborn["step"]>;
    }
  }
  const host = await opened(() => new Half(), 2);
  assertMatch(String(await step(host, [1, 0])), /expected 'next' for those/);
});

Deno.test("worlds at their own pace step at the same time", async () => {
  const host = await opened(counter({ ms: 20 }), 16);
  const from = performance.now();
  assert(await step(host, Array(16).fill(1)) instanceof DataView);
  assert(performance.now() - from < 16 * 20);
});

/** Draws all that it shows, and saves nothing. */
class Drawing {
  readonly observationSpace = {
    ...{ type: "box", shape: [1], low: 0, high: 1, dtype: "float64" } as const,
  };
  readonly actionSpace = { type: "discrete", n: 2 } as const;
  #random!: GameReset["random"];
  #steps = 0;

  reset({ random }: GameReset) {
    this.#random = random;
    this.#steps = 0;
    return [random.normal()];
  }

  step() {
    const truncated = ++this.#steps === 3;
    const observation = [this.#random.uniform() + this.#random.integer(3)];
    return { observation, reward: 0, terminated: false, truncated };
  }
}

Deno.test("episodes of worlds that cannot be saved are played again, in any host", async () => {
  const host = await opened(() => new Drawing(), 2, [3, 4]);
  const steps = async (it: Host, count: number) => {
    const all: string[] = [];
    for (let i = 0; i < count; i++) {
      const answer = await step(it, [i % 2, 0]) as DataView;
      all.push(new Uint8Array(answer.buffer).toHex());
    }
    return all;
  };
  await steps(host, 4);
  const { worlds } = await tell(host, { type: "save" });
  const wanted = await steps(host, 8);
  const other = await opened(() => new Drawing(), 2, [7, 8]);
  assertEquals(await tell(other, { type: "load", worlds }), { type: "done" });
  assertEquals(await steps(other, 8), wanted);
  const wrong = await tell(other, { type: "load", worlds: [] });
  assertMatch(String(wrong.message), /Cannot restore 2 worlds from 0/);
});

Deno.test("parameters are drawn for each episode, and looked at or not", async () => {
  const seen: number[] = [];
  class Heard extends Counter {
    override reset(options: GameReset) {
      seen.push(options.parameters.speed, options.parameters.level);
      return super.reset(options);
    }
  }
  const host = new Host(() => new Heard());
  await tell(host, { ...OPEN, parameters: {} });
  const values = { speed: [2, 3], level: { oneOf: [7, 8] }, colour: "red" };
  const parameters = { type: "parameters", values };
  assertEquals(await tell(host, parameters), { type: "done" });
  for (let i = 0; i < 20; i++) await tell(host, { type: "reset", seeds: [i] });
  assert(
    seen.every((it, i) => i % 2 ? it === 7 || it === 8 : it >= 2 && it < 3),
  );
  assertEquals(new Set(seen).size, 22);
  assertEquals((await tell(host, parameters)).unread, ["colour"]);
});

Deno.test("a person's step is told with its action", async () => {
  class Played extends Counter {
    watch(): Promise<WatchedStep> {
      const action = 2;
      return Promise.resolve({ ...this.step(action) as WatchedStep, action });
    }
  }
  const host = await opened(() => new Played());
  const answer = await step(host, [0], 9);
  assert(answer instanceof DataView);
  assertEquals(answer.getFloat64(16, true), 0.5);
  assertEquals([answer.byteLength, answer.getInt32(32, true)], [40, 2]);
  const other = await opened(counter());
  assertMatch(String(await step(other, [0], 9)), /has no 'watch'/);
});

Deno.test("wrong values of a world are named", async () => {
  class Wrong extends Counter {
    constructor(readonly change: object) {
      super();
    }
    override step(action: number) {
      return { ...super.step(action), ...this.change } as never;
    }
  }
  const cases: [object, RegExp][] = [
    [{ observation: [1] }, /Cannot send 1 numbers: expected 2/],
    [{ observation: undefined }, /without its observation/],
    [{ reward: undefined }, /without its reward/],
  ];
  for (const [change, message] of cases) {
    const host = await opened(() => new Wrong(change));
    assertMatch(String(await step(host, [1])), message);
  }
  const host = new Host(counter());
  assertMatch(String(await step(host, [1])), /before the worlds are open/);
  assertEquals((await tell(host, { type: "save" })).type, "error");
  const text = await host.answer("no JSON");
  assertEquals(JSON.parse(String(text)).name, "SyntaxError");
});

Deno.test("states come back from JSON as they were", () => {
  const state = {
    list: [1, -0, NaN, Infinity, null, "x", true, { a: {} }],
    arrays: [Float32Array.of(.1, -0), Uint8Array.of(1), Int16Array.of(-3)],
    bare: Object.assign(Object.create(null), { b: 1 }),
    names: JSON.parse('{"constructor": 1, "__proto__": [2], "toString": 3}'),
  };
  const text = JSON.stringify(state, replace);
  assertEquals(JSON.parse(text, revive), { ...state, bare: { b: 1 } });
  const refused: [unknown, string][] = [
    [new Map(), "Cannot save a Map of a world"],
    [() => 0, "Cannot save a Function of a world"],
    [1n, "Cannot save a BigInt of a world"],
    [{ $: 1 }, "Cannot save an entry named '$' of a world"],
  ];
  for (const [a, message] of refused) {
    assertThrows(() => JSON.stringify({ a }, replace), TypeError, message);
  }
});

Deno.test("random streams are uniform, and go on from their state", () => {
  const random = new RandomStream(2 ** 40 + 5);
  const drawn = Array.from({ length: 20_000 }, () => random.uniform());
  const mean = drawn.reduce((sum, it) => sum + it, 0) / drawn.length;
  assert(Math.abs(mean - 0.5) < 0.01);
  assert(drawn.every((it) => it >= 0 && it < 1));
  const state = random.save(), next = random.normal();
  random.load(state);
  assertEquals(random.normal(), next);
  assert(new RandomStream(1).uniform() !== new RandomStream(2 ** 33).uniform());
});

Deno.test("a page connects to this machine alone", () => {
  const page = globalThis as { location?: { search: string } };
  const before = page.location;
  try {
    Object.defineProperty(globalThis, "location", {
      ...{
        value: { search: "?bellman=ws://example.org/" },
        configurable: true,
      },
    });
    let message = "";
    try {
      connect(counter());
    } catch (error) {
      message = (error as Error).message;
    }
    assertMatch(message, /expected an address of this machine/);
  } finally {
    Object.defineProperty(globalThis, "location", {
      ...{ value: before, configurable: true },
    });
  }
});

Deno.test("a program without a WebSocket says so", () => {
  const here = globalThis as { WebSocket?: unknown }, before = here.WebSocket;
  try {
    delete here.WebSocket;
    assertThrows(
      () => connect(counter(), { address: "ws://127.0.0.1:1/" }),
      TypeError,
      "Cannot connect without WebSocket, which Node has from version 22 on",
    );
  } finally {
    here.WebSocket = before;
  }
});
