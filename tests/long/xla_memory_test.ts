import { a2c } from "@bellman/a2c";
import { DeviceAgent } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { tensorVecEnv } from "@bellman/envs/tensor";
import { assert, assertEquals, fail } from "@std/assert";
import {
  alignedArray,
  isXlaInstalled,
  openXla,
  type XlaClient,
} from "@bellman/compute/xla";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const NO_PLUGIN = !isXlaInstalled();
/** Bytes that the runtime itself may add. */
const ALLOWED_GROWTH = 8 * 2 ** 20;
const ROUNDS = 4;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Resident memory after a collection, with what finalizers free. */
async function residentMemory(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return Deno.memoryUsage().rss;
}

/** Bytes in use on a client's device; plugins for CPUs tell none. */
function deviceMemory(client?: XlaClient): number | undefined {
  return client?.devices[0].memory()?.inUse;
}

/**
 * Checks that memory, a device's too, stays as it is after the first times.
 *
 * A leak grows every time, the arenas of an allocator only until they are
 * large enough: memory has to stay as it is in one of several rounds.
 */
async function assertFlat(
  work: (times: number) => void | Promise<void>,
  { first, then, client }: { first: number; then: number; client?: XlaClient },
): Promise<void> {
  await work(first);
  const onDevice = deviceMemory(client), growths: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = await residentMemory();
    await work(then);
    const growth = await residentMemory() - before;
    assertEquals(deviceMemory(client), onDevice);
    if (growth < ALLOWED_GROWTH) return;
    growths.push((growth / 2 ** 20).toFixed(1));
  }
  fail(`memory grew in every round, by ${growths.join(", ")} MiB`);
}

/** A state that decays towards an input, and its sum. */
function program(rate: number): string {
  const type = "tensor<1024xf32>", scalar = "tensor<f32>";
  return `func.func @main(
    %state: ${type} {tf.aliasing_output = 0 : i32},
    %input: ${type}) -> (${type}, ${type}, ${scalar}) {
    %rate = stablehlo.constant dense<${rate.toExponential(4)}> : ${type}
    %zero = stablehlo.constant dense<0.0> : ${scalar}
    %gap = stablehlo.subtract %input, %state : ${type}
    %step = stablehlo.multiply %gap, %rate : ${type}
    %next = stablehlo.add %state, %step : ${type}
    %sum = stablehlo.reduce(%next init: %zero) applies stablehlo.add across dimensions = [0] : (${type}, ${scalar}) -> ${scalar}
    return %next, %step, %sum : ${type}, ${type}, ${scalar}
  }`;
}

for (const inPlace of [true, false]) {
  const how = inPlace ? "in place" : "with arrays that are sent";
  Deno.test({
    name: `100000 calls of a program ${how} leave memory as it was [XLA]`,
    ignore: NO_PLUGIN,
    async fn() {
      using client = openXla({ cache: false, inPlace });
      const state = alignedArray("f32", 1024),
        input = alignedArray("f32", 1024);
      const call = client.compile(program(0.1)).bind([
        { array: state, use: "share" },
        { array: input, use: "borrow" },
      ]);
      const step = new Float32Array(1024);
      await assertFlat((times) => {
        for (let i = 0; i < times; i++) {
          input.fill(i);
          call.run();
          call.readInto(1, step);
        }
      }, { first: 10_000, then: 100_000, client });
      call.pull();
      assert(state[0] > 0);
    },
  });
}

Deno.test({
  name:
    "20000 calls that are bound, run and freed leave memory as it was [XLA]",
  ignore: NO_PLUGIN,
  async fn() {
    using client = openXla({ cache: false });
    const executable = client.compile(program(0.1));
    const array = new Float32Array(1024);
    await assertFlat((times) => {
      for (let i = 0; i < times; i++) {
        using call = executable.bind([{ array }, { array }]);
        call.run();
        call.readInto(0, array);
      }
    }, { first: 20_000, then: 20_000, client });
  },
});

Deno.test({
  name: "30000 calls that are forgotten leave memory as it was [XLA]",
  ignore: NO_PLUGIN,
  async fn() {
    using client = openXla({ cache: false });
    const executable = client.compile(program(0.1));
    const array = new Float32Array(1024);
    const forget = async (times: number) => {
      for (let i = 0; i < times; i++) {
        executable.bind([{ array }, { array }]);
        // V8 knows nothing of their memory and sees no need to collect them.
        if (i % 2000 === 0) await residentMemory();
      }
    };
    await assertFlat(forget, { first: 10_000, then: 30_000 });
  },
});

Deno.test({
  name: "200 programs that are made and dropped leave memory as it was [XLA]",
  ignore: NO_PLUGIN,
  async fn() {
    using client = openXla({ cache: false });
    const data = new Float32Array(1024).fill(1);
    let made = 0;
    await assertFlat((times) => {
      for (let i = 0; i < times; i++) {
        using executable = client.compile(program(++made * 1e-3));
        using call = executable.bind([{ array: data }, { array: data }]);
        call.run();
      }
    }, { first: 50, then: 200, client });
  },
});

Deno.test({
  name: "200 clients that are opened and closed leave memory as it was [XLA]",
  ignore: NO_PLUGIN,
  async fn() {
    await assertFlat((times) => {
      for (let i = 0; i < times; i++) {
        const client = openXla({ cache: false });
        const array = new Float32Array(1024);
        client.compile(program(0.1)).bind([{ array }, { array }]);
        client.close();
      }
    }, { first: 50, then: 200 });
  },
});

Deno.test({
  name:
    "2000 failed calls leave the client whole, and next to nothing behind [XLA]",
  ignore: NO_PLUGIN,
  async fn() {
    using client = openXla({ cache: false });
    const type = `tensor<${2 ** 46}xf32>`;
    const executable = client.compile(
      `func.func @main(%a: tensor<f32>) -> ${type} {
      %b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> ${type}
      return %b : ${type}
    }`,
    );
    const array = Float32Array.of(1);
    await assertFlat((times) => {
      for (let i = 0; i < times; i++) {
        using call = executable.bind([{ array }]);
        try {
          call.run();
        } catch {
          // No process has so much memory.
        }
      }
    }, { first: 500, then: 2000, client });
    const numbers = new Float32Array(1024);
    using call = client.compile(program(0.1))
      .bind([{ array: numbers }, { array: numbers }]);
    call.run();
  },
});

Deno.test({
  name: "2000 calls of a whole training loop leave memory as it was [XLA]",
  ignore: NO_PLUGIN,
  async fn() {
    await selectBackend("cpu");
    const agent = new DeviceAgent(a2c, tensorVecEnv("CartPole-v1"), {
      numEnvs: 4,
      updatesPerCall: 5,
      totalTimesteps: 1e12,
      config: { numSteps: 5, hiddenSizes: [8] },
      engine: "xla",
    });
    const call = (times: number) => {
      for (let i = 0; i < times; i++) {
        agent.advance();
        agent.update();
      }
    };
    await assertFlat(call, { first: 200, then: 2000 });
    agent.close();
  },
});
