import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../program/errors.ts";
import { runDirOf, zooAgents } from "./zoo_agents.ts";

Deno.test("names of the zoo are folders, others stay as they are", () => {
  for (const { name, dir } of zooAgents()) {
    assertEquals(runDirOf(`zoo:${name}`), dir);
    // As environments are named elsewhere.
    assertEquals(runDirOf(`zoo:${name.replace("gym-", "gym:")}`), dir);
  }
  assertEquals(runDirOf("runs/zoo:a2c"), "runs/zoo:a2c");
});

Deno.test("an unknown agent gets the nearest, and nothing outside is opened", () => {
  const hint = "did you mean 'zoo:a2c/CartPole-v1'?";
  assertThrows(() => runDirOf("zoo:a2c/CartPole-v0"), UsageError, hint);
  for (const name of ["../cli/run", "a2c", "a2c/..", "", "/"]) {
    assertThrows(() => runDirOf(`zoo:${name}`), UsageError, "Unknown agent");
  }
});
