import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import type { Batch } from "@bellman/types";
import { anySpace } from "../../testdata/arbitrary_space.ts";
import { SeededRandom } from "../../random.ts";
import { actionChoices } from "../../spaces/choices.ts";
import { allocateArrays, bytesOf } from "../_group_arrays.ts";
import type { GroupArrays } from "../group_hosts.ts";
import { frameOf, FrameReader } from "./frames.ts";
import { AnswerReader, AnswerWriter, HEAD } from "./host_messages.ts";

/** Takes the only message of the frame of some parts. */
function messageOf(...parts: Uint8Array[]): Uint8Array {
  const messages: Uint8Array[] = [];
  const reader = new FrameReader({
    message: (bytes) => messages.push(bytes),
    stray: () => messages.push(new Uint8Array(0)),
  });
  reader.read(frameOf(...parts));
  assertEquals(messages.length, 1);
  return messages[0];
}

function fill(batch: Batch, random: SeededRandom): void {
  for (const bytes of bytesOf(batch)) {
    for (let i = 0; i < bytes.length; i++) bytes[i] = random.integer(256);
  }
}

/** Bytes of the rows of a batch, nothing for those that are not wanted. */
function rowsOf(
  batch: Batch,
  numEnvs: number,
  isWanted: (row: number) => boolean,
): string[][] {
  return bytesOf(batch).map((bytes) => {
    const size = bytes.length / numEnvs;
    return Array.from(
      { length: numEnvs },
      (_, row) =>
        isWanted(row)
          ? bytes.subarray(row * size, (row + 1) * size).toHex()
          : "",
    );
  });
}

Deno.test("what a host writes into its arrays is read into those of the caller", () => {
  fc.assert(
    fc.property(
      anySpace,
      anySpace,
      fc.integer({ min: 1, max: 5 }),
      fc.nat(),
      fc.uint8Array({ maxLength: 9 }),
      fc.boolean(),
      (observationSpace, actionSpace, numEnvs, seed, rest, masks) => {
        const masksActions = masks && actionChoices(actionSpace) !== undefined;
        const spaces = { observationSpace, actionSpace, masksActions };
        const random = new SeededRandom(seed);
        const arrays = allocateArrays(spaces, numEnvs);
        const writer = new AnswerWriter(arrays);
        const { actions: _, ...written } = arrays;
        const own: GroupArrays = allocateArrays(spaces, numEnvs);
        const reader = new AnswerReader(own, true);
        // Memory is used again by the next step.
        for (let step = 0; step < 2; step++) {
          fill(written as unknown as Batch, random);
          for (const ends of [written.terminated, written.truncated]) {
            for (let i = 0; i < numEnvs; i++) ends[i] = random.integer(2);
          }
          const begun = messageOf(...writer.begun);
          reader.readObservations(begun);
          const all = () => true;
          const observed = rowsOf(written.observations, numEnvs, all);
          assertEquals(rowsOf(own.observations, numEnvs, all), observed);
          assertEquals("actionMasks" in own, masksActions);
          assertEquals(own.actionMasks?.slice(), written.actionMasks?.slice());
          const message = messageOf(...writer.stepped(), rest);
          assertEquals(message.slice(0, HEAD), new Uint8Array(HEAD));
          const at = reader.readStep(message);
          assertEquals(message.slice(at), rest);
          assertEquals(rowsOf(own.observations, numEnvs, all), observed);
          const flags = ["rewards", "terminated", "truncated"] as const;
          for (const name of flags) {
            assertEquals(
              rowsOf(own[name], numEnvs, all),
              rowsOf(written[name], numEnvs, all),
            );
          }
          const hasEnded = (row: number): boolean =>
            written.terminated[row] + written.truncated[row] > 0;
          assertEquals(
            rowsOf(own.finalObservations, numEnvs, hasEnded),
            rowsOf(written.finalObservations, numEnvs, hasEnded),
          );
          if (!masksActions) continue;
          assertEquals(
            rowsOf(own.finalActionMasks!, numEnvs, hasEnded),
            rowsOf(written.finalActionMasks!, numEnvs, hasEnded),
          );
        }
      },
    ),
  );
});

Deno.test("arrays lie at multiples of eight bytes of the message", () => {
  fc.assert(
    fc.property(anySpace, fc.integer({ min: 1, max: 5 }), (space, numEnvs) => {
      const spaces = { observationSpace: space, actionSpace: space };
      const arrays = allocateArrays(spaces, numEnvs);
      const { observations, rewards, terminated } = arrays;
      const random = new SeededRandom(numEnvs);
      for (const batch of [observations, rewards]) fill(batch, random);
      terminated.fill(1);
      const answer = messageOf(...new AnswerWriter(arrays).stepped());
      let at = HEAD;
      for (const batch of [observations, rewards, terminated]) {
        for (const bytes of bytesOf(batch)) {
          assertEquals(answer.slice(at, at + bytes.length), bytes);
          at = 8 * Math.ceil((at + bytes.length) / 8);
        }
      }
    }),
  );
});
