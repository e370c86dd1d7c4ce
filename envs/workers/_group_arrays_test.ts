import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { anySpace } from "../testdata/arbitrary_space.ts";
import { bytesOf, HEAD, wireArrays } from "./_group_arrays.ts";

Deno.test("arrays lie one after the other in the message, none over another", () => {
  const sizes = fc.integer({ min: 1, max: 5 });
  fc.assert(
    fc.property(
      anySpace,
      anySpace,
      sizes,
      (shown, done, numEnvs) => {
        const spaces = { observationSpace: shown, actionSpace: done };
        const near = wireArrays(spaces, { numEnvs });
        const far = wireArrays(spaces, { numEnvs, before: 12 });
        // What stands before the message moves nothing in it.
        assertEquals(near.message.length, far.message.length);
        assertEquals(near.shown, far.shown);
        const { actions: _, finalObservations, ...rest } = far.arrays;
        const start = far.message.byteOffset;
        let end = HEAD;
        for (const bytes of bytesOf(rest as never)) bytes.fill(1);
        assertEquals(far.message.slice(0, HEAD), new Uint8Array(HEAD));
        assertEquals(
          far.message.slice(far.shown).every((it) => it === 0),
          true,
        );
        const ordered = [
          rest.rewards,
          rest.terminated,
          rest.truncated,
          rest.observations,
          finalObservations,
        ].flatMap(bytesOf);
        for (const bytes of ordered) {
          assertEquals(bytes.byteOffset - start >= end, true);
          assertEquals((bytes.byteOffset - start) % 8, 0);
          end = bytes.byteOffset - start + bytes.length;
        }
        assertEquals(end <= far.message.length, true);
      },
    ),
  );
});
