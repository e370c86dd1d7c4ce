/** More damages than these with the command that `tests/damage.ts` is. */
import { assertEquals } from "@std/assert";
import { damageRuns } from "../damage.ts";

Deno.test("300 damaged run folders end with the unbroken run's numbers, or say why not", async () => {
  const { failures } = await damageRuns({ damages: 300, seed: 2 });
  assertEquals(failures, []);
});
