import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { MessageChannel } from "node:worker_threads";
import { IoLine, lineMemory, type News } from "./_io_messages.ts";

/** Messages of which some have no bytes, and some too many for the memory. */
const anyNews = fc.record({
  process: fc.nat(),
  pid: fc.option(fc.nat(), { nil: undefined }),
  length: fc.constantFrom(undefined, 0, 1, 5, 4096, 100_000, 300_000),
});

Deno.test("messages arrive in order, whichever way they go", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(anyNews, fc.nat(3)), { maxLength: 30 }),
      (steps) => {
        const { port1, port2 } = new MessageChannel(), memory = lineMemory();
        const from = new IoLine<News>(port1, memory);
        const to = new IoLine<News>(port2, memory);
        const sent: string[] = [], received: string[] = [];
        const text = ({ process, bytes }: News): string =>
          `${process} ${bytes?.length} ${bytes?.subarray(0, 8)}`;
        const receive = (): boolean => {
          const news = to.receive();
          if (news) received.push(text(news));
          return news !== undefined;
        };
        for (const [i, [{ length, ...news }, taken]] of steps.entries()) {
          const bytes = length === undefined
            ? undefined
            : new Uint8Array(length).fill(i);
          sent.push(text({ ...news, bytes }));
          from.send({ ...news, bytes });
          for (let n = 0; n < taken; n++) receive();
        }
        while (receive());
        assertEquals(received, sent);
        port1.close();
        port2.close();
      },
    ),
    { numRuns: 50 },
  );
});

Deno.test("what is no message goes through the port as it is", () => {
  const { port1, port2 } = new MessageChannel(), memory = lineMemory();
  const end = { code: 3, prints: "the last words" };
  new IoLine<News>(port1, memory).send({ process: 2, end });
  const line = new IoLine<News>(port2, memory);
  line.wait(0);
  assertEquals(line.receive(), { process: 2, end, bytes: undefined });
  assertEquals(line.receive(), undefined);
  port1.close();
  port2.close();
});
