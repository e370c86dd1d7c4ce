/** Damages with the command that `tests/replay_damage.ts` is. */
import { assertEquals } from "@std/assert";
import { damageReplays } from "../replay_damage.ts";

Deno.test("200 damaged replay files: no rows are learned from in silence, and no run is lost", async () => {
  const { failures } = await damageReplays({ damages: 200, seed: 35 });
  assertEquals(failures, []);
});
