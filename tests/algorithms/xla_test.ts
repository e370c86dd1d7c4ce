/** Plain forms that have masks learn with XLA what they learn with ONNX Runtime. */
import { selectBackend } from "@bellman/compute";
import { isXlaInstalled } from "@bellman/compute/xla";
import { assert, assertEquals } from "@std/assert";
import { MadeUpEnv } from "../../algorithms/agent/testdata/made_up_env.ts";
import { testsWith } from "../testdata/tests_with.ts";
import { agentOf, ALL_FORMS, STEPS } from "./forms.ts";

await selectBackend("cpu");
const test = testsWith("XLA", isXlaInstalled());

for (const form of ALL_FORMS) {
  const { name, spaces } = form;
  // Compiling takes seconds.
  const isPlain = /masked actions$|a2c.*two networks/.test(name);
  if (!spaces.actionMasks || !isPlain) continue;
  test(`${name}: XLA learns the same by masks`, () => {
    const [onnx, xla] = (["onnx", "xla"] as const).map((engine) => {
      const agent = agentOf(form, { engine });
      const played = new MadeUpEnv(spaces).play(agent, STEPS + 6);
      agent.close();
      return played;
    });
    assertEquals(xla.actions[0], onnx.actions[0]);
    const [first] = onnx.updates;
    for (const key in first) {
      const off = Math.abs(xla.updates[0][key] - first[key]);
      assert(off < 1e-3 * (1 + Math.abs(first[key])), `${key}: off ${off}`);
    }
  });
}
