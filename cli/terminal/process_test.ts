import { assert } from "@std/assert";
import { eventLoopBreak } from "./process.ts";

Deno.test("a loop of awaits with breaks lets in what comes from outside", async () => {
  let heard = false;
  setTimeout(() => heard = true);
  const takeBreak = eventLoopBreak();
  for (let i = 0; i < 1e8 && !heard; i++) await takeBreak();
  assert(heard);
});
