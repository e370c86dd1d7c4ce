import type { PropertySchema } from "@bellman/agent";
import { createRunFolder } from "@bellman/training";
import { assertEquals, assertThrows } from "@std/assert";
import { findAlgorithm, registerAlgorithm } from "../config/algorithms.ts";
import { resolveConfig } from "../config/resolve.ts";
import { openRun, prolonged } from "./saved_run.ts";
import { UsageError } from "../terminal/errors.ts";

Deno.test("logInterval of a run of before, which counted updates, is the default", async () => {
  const dir = await Deno.makeTempDir();
  const intervalOf = (name: string, configText: string) => {
    createRunFolder(`${dir}/${name}`, { configText });
    return openRun(`${dir}/${name}`).config.logInterval;
  };
  const former = "algorithm: a2c\nenv: CartPole-v1\nlogInterval: 100\n";
  assertEquals(intervalOf("former", former), null);
  assertEquals(intervalOf("now", `${former}infoStatistics: []\n`), 100);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("epochs of a run of before say no more than its totalTimesteps", async () => {
  const dir = await Deno.makeTempDir();
  const lengths = ["80\nepochs: null", "80\nepochs: 2"];
  for (const [i, length] of lengths.entries()) {
    const configText =
      `algorithm: a2c\nenv: CartPole-v1\ntotalTimesteps: ${length}\nnumEnvs: 2\nevaluationInterval: 40\n`;
    createRunFolder(`${dir}/${i}`, { configText });
    const run = openRun(`${dir}/${i}`);
    assertEquals([run.config.totalTimesteps, run.config.numEnvs], [80, 2]);
    const { config, configText: longer } = prolonged(run, 160);
    assertEquals([config.totalTimesteps, config.numEnvs], [160, 2]);
    assertEquals(longer.includes("epochs"), false);
    // Another run starts from its file.
    const file = { name: "config.yaml", text: configText };
    const other = resolveConfig(undefined, { file, entries: [] });
    assertEquals([other.totalTimesteps, "epochs" in other], [80, false]);
  }
  // Elsewhere they are another length than that of the file.
  const text = "totalTimesteps: 100\nepochs: 2\nevaluationInterval: 40\n";
  assertThrows(
    () =>
      resolveConfig("a2c", { file: { name: "own.yaml", text }, entries: [] }),
    UsageError,
    "Unknown key 'epochs' in own.yaml: the length of a run is totalTimesteps",
  );
  await Deno.remove(dir, { recursive: true });
});

Deno.test("epochs of an algorithm of one's own are its setting", async () => {
  const { schema } = findAlgorithm("a2c")!;
  registerAlgorithm({
    ...findAlgorithm("a2c")!,
    name: "with-epochs",
    schema: {
      properties: {
        ...schema.properties,
        epochs: { type: ["integer", "null"], default: 4 } as PropertySchema,
      },
    },
  });
  const dir = await Deno.makeTempDir();
  const lines = "totalTimesteps: 80\nnumEnvs: 2\nevaluationInterval: 40\n";
  for (const epochs of [null, 2]) {
    const configText = `algorithm: with-epochs\n${lines}epochs: ${epochs}\n`;
    createRunFolder(`${dir}/${epochs}`, { configText });
    const run = openRun(`${dir}/${epochs}`);
    assertEquals(run.config.epochs, epochs);
    assertEquals(prolonged(run, 160).config.epochs, epochs);
  }
  await Deno.remove(dir, { recursive: true });
});
