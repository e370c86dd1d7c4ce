import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { serveParameters } from "./_serve_parameters.ts";
import { SharedParameters } from "./parameter_server.ts";
import { RemoteServer, type RemoteServerOptions } from "./remote_server.ts";

await tf.setBackend("cpu");

const SIZE = 3;

function sharedOf(targetInterval?: number): SharedParameters {
  return SharedParameters.from(Float32Array.of(1, -2, 0.5), {
    optimizer: "rmsprop",
    decay: 0.9,
    rmspropEpsilon: 0.01,
    workers: 2,
    targetInterval,
  });
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((it) => [...it]));
}

/** A worker elsewhere whose messages go nowhere, and the bytes of each. */
function connect(
  shared: SharedParameters,
  options: Partial<RemoteServerOptions> = {},
  worker = 1,
) {
  const service = serveParameters(shared)(worker);
  const asked: number[] = [], told: number[] = [];
  const server = new RemoteServer({
    size: SIZE,
    claim: 2,
    ask(...parts) {
      const question = joined(parts), said = joined(service.answer(question));
      asked.push(question.length);
      told.push(said.length);
      return said;
    },
    ...options,
  });
  return { server, service, asked, told };
}

/** Bytes of a question with a gradient or without, and of an answer with arrays. */
const question = (gradients = 0) => 15 * 8 + gradients * SIZE * 4;
const answer = (arrays = 0) => 4 * 8 + arrays * SIZE * 4;

Deno.test("steps count with their gradient, and a window is one question", () => {
  const shared = sharedOf();
  const { server, asked, told } = connect(shared);
  const params = new Float32Array(SIZE);
  shared.allow(4);
  assert(server.claim());
  assert(server.pull(params, "params"));
  assertEquals(params, Float32Array.of(1, -2, 0.5));
  server.step();
  assert(server.claim() && !server.pull(params, "params"));
  server.step();
  assertEquals([server.steps, shared.steps], [2, 0]);
  server.push(Float32Array.of(1, 0, -1), 0.1);
  server.report([4, 2]);
  assertEquals([shared.memory.params[0], asked.length], [1, 2]);
  assert(server.claim());
  assertEquals([server.steps, shared.steps, shared.taken[1]], [2, 2, 2]);
  assertEquals(shared.statistics, [4, 2]);
  assert(server.pull(params, "params"));
  assertEquals(params, shared.memory.params);
  // The first pull told what is used.
  assertEquals(asked, [question(), question(), question(1)]);
  assertEquals(told, [answer(), answer(1), answer(1)]);
});

Deno.test("a stop counts the steps of an open window, and sends no arrays", () => {
  const shared = sharedOf();
  const { server, told } = connect(shared, { claim: 8 });
  const params = new Float32Array(SIZE);
  shared.allow(3);
  for (let i = 0; i < 3; i++) {
    assert(server.claim());
    server.pull(params, "params");
    server.step();
  }
  assertEquals(shared.steps, 0);
  shared.connect(0).push(Float32Array.of(1, 1, 1), 0.1);
  assert(!server.claim());
  assertEquals([shared.steps, told.at(-1)], [3, answer()]);
  shared.allow(1);
  assert(server.claim());
  assert(server.pull(params, "params"));
  assertEquals(params, shared.memory.params);
});

Deno.test("what a lost worker holds is given back, and is neither counted nor learned", () => {
  const shared = sharedOf(), before = shared.memory.params.slice();
  const { server, service } = connect(shared, { claim: 5 });
  shared.allow(6);
  for (let i = 0; i < 3; i++) {
    server.claim();
    server.step();
  }
  server.push(Float32Array.of(1, 1, 1), 0.1);
  assertEquals(shared.grant(9), 1);
  service.close();
  service.close();
  assertEquals([shared.steps, shared.grant(9)], [0, 5]);
  assertEquals(shared.memory.params, before);
});

Deno.test("the target network is copied when a worker here would do it, before a push or after", () => {
  for (const isFirst of [true, false]) {
    const near = sharedOf(2), far = sharedOf(2);
    const own = near.connect(1);
    const { server } = connect(far, { claim: 1, targetInterval: 2 });
    for (const [shared, it] of [[near, own], [far, server]] as const) {
      const seen: unknown[] = [], target = new Float32Array(SIZE);
      for (let t = 0; t < 7; t++) {
        shared.allow(1);
        assert(it.claim());
        it.step();
        seen.push(it.pull(target, "target"), target.slice());
        if (isFirst) it.syncTarget();
        if (t % 2 === 1) it.push(Float32Array.of(1, t, -1), 0.1);
        if (!isFirst) it.syncTarget();
        // Sarsa has two windows where an episode ends.
        if (t === 5) {
          seen.push(it.pull(target, "target"), target.slice());
          it.push(Float32Array.of(0, 0, 1), 0.1);
        }
        assert(!it.claim());
      }
      Object.assign(shared, { seen });
    }
    assertEquals(far.save(), near.save());
    const seenBy = (it: unknown) => (it as { seen: unknown[] }).seen;
    assertEquals(seenBy(far), seenBy(near));
  }
});

Deno.test("parameters that were restored are pulled again", () => {
  const shared = sharedOf(), { server } = connect(shared);
  const params = new Float32Array(SIZE), state = shared.save();
  shared.allow(1);
  server.claim();
  server.pull(params, "params");
  server.step();
  shared.load(state);
  shared.allow(1);
  assert(server.claim() && server.pull(params, "params"));
});

Deno.test("a gradient of another size is refused", () => {
  for (const size of [SIZE - 1, SIZE + 1]) {
    const shared = sharedOf();
    const { server } = connect(shared, { size });
    shared.allow(2);
    server.claim();
    server.step();
    server.push(new Float32Array(size), 0.1);
    assertThrows(
      () => server.claim(),
      RangeError,
      `Cannot push a gradient of ${size} numbers: expected 3`,
    );
    assertEquals(shared.steps, 0);
  }
});
