import type { StateTree } from "@bellman/types";
import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { Episodes } from "./_episodes.ts";

Deno.test("a step is refused before the first episode and after an end", () => {
  const episodes = new Episodes("Maze");
  assertThrows(
    () => episodes.checkRunning(),
    Error,
    "Cannot step Maze as its episode has not begun: call reset first",
  );
  episodes.begin();
  episodes.checkRunning();
  episodes.stage = "ended";
  assertThrows(
    () => episodes.checkRunning(),
    Error,
    "Cannot step Maze as its episode ended in the step before",
  );
});

Deno.test("the stream goes on from episode to episode until it is seeded", () => {
  const episodes = new Episodes("Maze", 7), other = new Episodes("Maze");
  const first = episodes.begin().uniform();
  assertEquals(other.begin(7).uniform(), first);
  assertNotEquals(episodes.begin().uniform(), first);
  assertEquals(episodes.begin(7).uniform(), first);
});

Deno.test("a wrong snapshot is refused and changes nothing", () => {
  const episodes = new Episodes("Maze");
  episodes.begin(3);
  const saved = episodes.save();
  const refused: [Record<string, StateTree>, message: string][] = [
    [
      { ...saved, status: "closed" },
      'Cannot restore Maze from a snapshot with status "closed": expected new, running, ended',
    ],
    [{ ...saved, status: "new", random: 3 }, "'generator'"],
  ];
  for (const [it, message] of refused) {
    assertThrows(() => episodes.load(it), TypeError, message);
    assertEquals(episodes.save(), saved);
  }
  const fresh = new Episodes("Maze").save();
  assertEquals(fresh, { status: "new", random: null });
  episodes.load(fresh);
  assertEquals(episodes.save(), fresh);
});
