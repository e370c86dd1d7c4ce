import { assertEquals, assertThrows } from "@std/assert";
import { curveOf, groupNames, parseColumns } from "./curves.ts";
import { UsageError } from "./usage_error.ts";

const TEXT = "nupdates,total_timesteps,eprewmean\n1,40,\n100,4000,23.5\n";

Deno.test("columns are read by name and empty cells are NaN", () => {
  const columns = parseColumns(TEXT, "progress.csv");
  assertEquals(columns.total_timesteps, [40, 4000]);
  assertEquals(columns.eprewmean, [NaN, 23.5]);
  assertEquals(curveOf(columns, { key: "eprewmean", path: "p" }), {
    x: [4000],
    y: [23.5],
  });
});

Deno.test("a torn row and an unknown column are one clear line", () => {
  const torn = assertThrows(
    () => parseColumns(`${TEXT}200,80\n`, "progress.csv"),
    UsageError,
  );
  assertEquals(
    torn.message,
    "Cannot read progress.csv: line 4 has 2 cells, expected 3",
  );
  assertThrows(
    () => curveOf(parseColumns(TEXT, "p"), { key: "reward", path: "runs/a" }),
    UsageError,
    "Cannot plot 'reward' of runs/a: expected one of nupdates, eprewmean",
  );
});

Deno.test("runs that differ in the seed alone share a group", () => {
  const base = { algorithm: "a2c", env: "CartPole-v1", gamma: 0.99 };
  assertEquals(groupNames([{ ...base, seed: 0 }, { ...base, seed: 1 }]), [
    "a2c CartPole-v1",
    "a2c CartPole-v1",
  ]);
  assertEquals(
    groupNames([{ ...base, seed: 0 }, { ...base, seed: 1, gamma: 0.9 }]),
    ["a2c CartPole-v1 gamma=0.99", "a2c CartPole-v1 gamma=0.9"],
  );
});
