/** More damages than these with the command that `tests/damage.ts` is. */
import { assertEquals } from "@std/assert";
import { RUN_DAMAGES } from "../damage.ts";
import { damageEach } from "../damage_loop.ts";

Deno.test("300 damaged run folders end with the unbroken run's numbers, or say why not", async () => {
  const { failures } = await damageEach(RUN_DAMAGES, { damages: 300, seed: 2 });
  assertEquals(failures, []);
});
