import type { PropertySchema } from "@bellman/agent";
import { createRunFolder } from "../folder/run_folder.ts";
import { assertEquals } from "@std/assert";
import { findAlgorithm, registerAlgorithm } from "../settings/algorithms.ts";
import { openSavedRun, prolonged } from "./saved_run.ts";

Deno.test("epochs of an algorithm of one's own are its setting", async () => {
  const a2c = findAlgorithm("a2c")!;
  registerAlgorithm({
    ...a2c,
    meta: {
      ...a2c.meta,
      name: "with-epochs",
      schema: {
        properties: {
          ...a2c.meta.schema.properties,
          epochs: { type: ["integer", "null"], default: 4 } as PropertySchema,
        },
      },
    },
  });
  const dir = await Deno.makeTempDir();
  const lines = "totalTimesteps: 80\nnumEnvs: 2\nevaluationInterval: 40\n";
  for (const epochs of [null, 2]) {
    const configText = `algorithm: with-epochs\n${lines}epochs: ${epochs}\n`;
    createRunFolder(`${dir}/${epochs}`, { configText });
    const run = openSavedRun(`${dir}/${epochs}`);
    assertEquals(run.config.epochs, epochs);
    assertEquals(prolonged(run, 160).config.epochs, epochs);
  }
  await Deno.remove(dir, { recursive: true });
});
