import { assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import { fragile, once } from "./testdata/scripted_hosts.ts";

Deno.test("no window holds more restarts than allowed", () => {
  const waits = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 30 });
  const { now } = performance;
  let time = 0;
  performance.now = () => time;
  try {
    fc.assert(
      fc.property(waits, fc.integer({ min: 1, max: 6 }), (all, most) => {
        const taken: number[] = [], counts: number[] = [];
        const { hosts, env } = fragile({
          restarts: most,
          onRestart: ({ restarts }) => counts.push(restarts),
        });
        env.reset({ seed: 0 });
        for (const wait of all) {
          time += 6_000 * wait;
          const recent = taken.filter((it) => time - it < 600_000).length;
          hosts.script = once(0, "step");
          const step = () => env.step(new Int32Array(5));
          if (recent >= most) {
            assertThrows(step, Error, `${most} times within 600 s`);
            break;
          }
          step();
          taken.push(time);
          assertEquals(counts.at(-1), recent + 1);
        }
        env.close();
      }),
    );
  } finally {
    performance.now = now;
  }
});
