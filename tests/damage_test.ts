import { assertEquals } from "@std/assert";
import { damageRuns } from "./damage.ts";

Deno.test("damaged run folders end with the unbroken run's numbers, or say why not", async () => {
  const { outcomes, failures } = await damageRuns({ damages: 20, seed: 1 });
  assertEquals(failures, []);
  const count = [...outcomes.values()].reduce((sum, it) => sum + it, 0);
  assertEquals(count, 20);
});
