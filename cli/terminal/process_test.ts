import { assert } from "@std/assert";
import { breather } from "./process.ts";

Deno.test("a loop of awaits that breathes lets in what comes from outside", async () => {
  let heard = false;
  setTimeout(() => heard = true);
  const breathe = breather();
  for (let i = 0; i < 1e8 && !heard; i++) await breathe();
  assert(heard);
});
