import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { RestartBudget } from "./_host_fleet.ts";

Deno.test("no window holds more restarts than allowed", () => {
  const waits = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60 });
  fc.assert(fc.property(waits, fc.integer({ min: 0, max: 4 }), (all, most) => {
    const budget = new RestartBudget(most, 100), taken: number[] = [];
    let now = 0;
    for (const wait of all) {
      now += wait;
      const recent = taken.filter((time) => now - time < 100).length;
      assertEquals(budget.spent(now), recent);
      assertEquals(budget.take(now), recent < most);
      if (recent < most) taken.push(now);
    }
  }));
});
