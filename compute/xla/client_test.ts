import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { openXla } from "./open_xla.ts";
import { XlaError } from "./plugin.ts";
import {
  ADD_TO_STATE,
  addAndMultiply,
  runOnce,
  test,
} from "./testdata/programs.ts";
import { alignedArray } from "./tensors.ts";

const NUMBERS = Float32Array.of(1, 2, 3, 4);

test("a client tells of its device", () => {
  using client = openXla();
  assertEquals([client.platform, client.isHost], ["cpu", true]);
  assertEquals(client.devices.map((it) => it.kind), ["cpu"]);
  assertEquals(client.devices[0].memory(), undefined);
  assert(/^0\.\d+$/.test(client.apiVersion));
});

test("a program runs once", () => {
  using client = openXla();
  const program = client.compile(addAndMultiply(4));
  assertEquals(runOnce(program, NUMBERS, NUMBERS), [
    Float32Array.of(2, 4, 6, 8),
    Float32Array.of(1, 4, 9, 16),
  ]);
});

test("a reduction of a product with equal numbers is right", () => {
  using client = openXla({ cache: false });
  const type = "tensor<5x60x60xf32>";
  const program = client.compile(`
    func.func @main(%e: ${type}, %c: tensor<f32>) -> tensor<5xf32> {
      %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> ${type}
      %d = stablehlo.dot_general %e, %b, batching_dims = [0] x [0],
        contracting_dims = [2] x [1] : (${type}, ${type}) -> ${type}
      %m = stablehlo.multiply %d, %e : ${type}
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%m init: %zero) applies stablehlo.add
        across dimensions = [1, 2] : (${type}, tensor<f32>) -> tensor<5xf32>
      return %sum : tensor<5xf32>
    }`);
  const ones = new Float32Array(5 * 60 * 60).fill(1);
  const [sum] = runOnce(program, ones, Float32Array.of(0.5));
  // With the plugin's own flags it is NaN, or 1e35.
  assertEquals(sum, new Float32Array(5).fill(60 ** 3 / 2));
});

test("a program without outputs runs", () => {
  using client = openXla();
  const text = `func.func @main(%a: tensor<f32>) {
    return
  }`;
  const program = client.compile(text);
  assertEquals(runOnce(program, Float32Array.of(1)), []);
});

test("a program that does not compile is an error in one line", () => {
  using client = openXla();
  const broken = ADD_TO_STATE.replace("stablehlo.add", "stablehlo.ad");
  const error = assertThrows(() => client.compile(broken), XlaError);
  assert(error.message.startsWith(`Cannot compile the program: ${error.code}`));
  assert(error.message.includes("stablehlo.ad"), error.message);
  assert(!error.message.includes("\n"));
});

test("a program that the device has no memory for is an error in one line", () => {
  using client = openXla();
  // More than a process can address.
  const type = `tensor<${2 ** 46}xf32>`;
  const program = client.compile(
    `func.func @main(%a: tensor<f32>) -> ${type} {
    %b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> ${type}
    return %b : ${type}
  }`,
  );
  const one = Float32Array.of(1);
  const error = assertThrows(() => runOnce(program, one), XlaError);
  assertEquals(error.code, "RESOURCE_EXHAUSTED");
  assert(/^Cannot run the program: RESOURCE_[^\n]+$/.test(error.message));
  // The client goes on.
  const add = client.compile(addAndMultiply(4));
  assertEquals(runOnce(add, NUMBERS, NUMBERS)[0][0], 2);
});

test("a program that donates and has no memory says so", () => {
  using client = openXla();
  const type = `tensor<${2 ** 42}xf32>`;
  const program = client.compile(
    `func.func @main(%a: tensor<f32> {tf.aliasing_output = 0 : i32})
      -> (tensor<f32>, ${type}) {
    %b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> ${type}
    return %a, %b : tensor<f32>, ${type}
  }`,
  );
  const call = program.bind([{ array: Float32Array.of(1) }]);
  const error = assertThrows(() => call.run(), XlaError);
  assertEquals(error.code, "RESOURCE_EXHAUSTED", error.message);
  assertStringIncludes(error.words, `${2 ** 44} bytes`);
});

test("work after the client was closed is refused", () => {
  const client = openXla();
  const program = client.compile(ADD_TO_STATE);
  const given = [
    { array: alignedArray("f32", 4), use: "share" },
    { array: alignedArray("f32", 4), use: "borrow" },
  ] as const;
  const call = program.bind(given);
  client.close();
  client.close();
  const cases = [
    () => client.compile(ADD_TO_STATE),
    () => program.bind(given),
    () => program.serialize(),
    () => call.run(),
    () => call.read(0),
  ];
  for (const work of cases) assertThrows(work, TypeError, "Cannot ");
  for (const it of [program, call]) it.close();
});

test("an option of a wrong type is refused before the plugin sees it", () => {
  // Plugins before API 0.115 end the process.
  for (const count of ["one", 1.5, true]) {
    assertThrows(
      () => openXla({ create: { cpu_device_count: count } }),
      TypeError,
      `Cannot start a client with the option cpu_device_count = ${count}: expected a whole number`,
    );
  }
});

test("workers have clients of their own", async () => {
  using client = openXla();
  const url = new URL("testdata/worker.ts", import.meta.url);
  const workers = [1000, 2000].map((times) => {
    const worker = new Worker(url, { type: "module" });
    const sum = new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
    });
    worker.postMessage(times);
    return { worker, sum };
  });
  const program = client.compile(addAndMultiply(4));
  assertEquals(runOnce(program, NUMBERS, NUMBERS)[1][3], 16);
  const sums = await Promise.all(workers.map(({ sum }) => sum));
  for (const { worker } of workers) worker.terminate();
  assertEquals(sums, [1000, 2000]);
});
