import { assertEquals, assertRejects } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "./backend.ts";

Deno.test("a backend asked for is the one that is taken", async () => {
  for (const name of ["wasm", "cpu"] as const) {
    assertEquals((await selectBackend(name)).name, name);
    assertEquals(tf.getBackend(), name);
  }
});

Deno.test("an unknown backend is one line with the nearest name", async () => {
  await assertRejects(
    () => selectBackend("wsam" as "wasm"),
    RangeError,
    "Unknown backend 'wsam': did you mean 'wasm'?",
  );
});

Deno.test("auto takes one and says which, with nothing on the terminal", async () => {
  const script = `
    import { selectBackend } from ${
    JSON.stringify(import.meta.resolve("./mod.ts"))
  };
    import * as tf from "@tensorflow/tfjs";
    const { name, description } = await selectBackend();
    console.log(name, description.length > 0, tf.ones([2]).sum().dataSync()[0]);
  `;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", script],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  const [name, described, sum] = decoder.decode(stdout).trim().split(" ");
  assertEquals(["tensorflow", "wasm"].includes(name), true);
  assertEquals([described, sum], ["true", "2"]);
  assertEquals(decoder.decode(stderr), "");
});
