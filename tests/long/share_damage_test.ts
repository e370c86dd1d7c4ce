import { assertEquals } from "@std/assert";
import { damageEach } from "../damage_loop.ts";
import { SHARE_DAMAGES } from "../share_damage.ts";

Deno.test("1,000 damaged shared folders: each is found, and nothing crashes", async () => {
  const { failures, outcomes } = await damageEach(SHARE_DAMAGES, {
    damages: 1000,
    seed: 1,
  });
  assertEquals(failures, []);
  assertEquals(outcomes.values().reduce((sum, it) => sum + it, 0), 1000);
});
