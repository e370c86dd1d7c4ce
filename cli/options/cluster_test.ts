import { assertEquals, assertThrows } from "@std/assert";
import { parseOptions } from "../terminal/command.ts";
import { checkCluster } from "../../lab/runs/settings/cluster.ts";
import { UsageError } from "@bellman/runs/program";
import {
  CLUSTER_OPTIONS,
  clusterOf,
  clusterWords,
  onCluster,
} from "./cluster.ts";
import { CONFIG_OPTIONS } from "./options.ts";
import { resolveConfig } from "../../lab/runs/settings/resolve.ts";

const SPECS = [...CONFIG_OPTIONS, ...CLUSTER_OPTIONS];
const parse = (...args: string[]) => parseOptions(args, SPECS);

Deno.test("a cluster is read, and named again for whoever resumes", () => {
  assertEquals(clusterOf(parse()), undefined);
  assertEquals(clusterWords(undefined), "");
  const usual = clusterOf(parse("--cluster", "10.0.0.1:6379"))!;
  assertEquals(usual, {
    cluster: "10.0.0.1:6379",
    listen: undefined,
    code: "ship",
    startTimeoutMs: 120_000,
  });
  assertEquals(clusterWords(usual), " --cluster 10.0.0.1:6379");
  const args = [
    ...["--cluster", "auto", "--cluster-listen", "10.0.0.9:700"],
    ...["--cluster-code", "here", "--cluster-start-timeout", "1.5"],
  ];
  const whole = clusterOf(parse(...args))!;
  assertEquals(whole, {
    cluster: "auto",
    listen: "10.0.0.9:700",
    code: "here",
    startTimeoutMs: 1500,
  });
  assertEquals(
    clusterOf(parse(...clusterWords(whole).trim().split(" "))),
    whole,
  );
});

const REFUSED: Record<string, string> = {
  "--cluster-code ship": "Cannot use --cluster-code without --cluster",
  "--cluster a:1 --cluster-code there": "expected ship or here",
  "--cluster a:1 --cluster-start-timeout 0": "expected seconds above 0",
  "--cluster a:1 --cluster-start-timeout soon": "expected seconds above 0",
};

for (const [line, message] of Object.entries(REFUSED)) {
  Deno.test(`'${line}' is refused`, () => {
    assertThrows(
      () => clusterOf(parse(...line.split(" "))),
      UsageError,
      message,
    );
  });
}

Deno.test("a cluster implies where environments are, unless that is said", () => {
  const set = (...args: string[]) =>
    onCluster("a2c", parse(...args)).values.get("set");
  assertEquals(set(), undefined);
  assertEquals(set("--cluster", "a:1"), ["vectorization=ray"]);
  assertEquals(set("--cluster", "a:1", "--set", "vec_env=sync"), [
    "vec_env=sync",
  ]);
});

Deno.test("a run and its cluster belong together", () => {
  const options = clusterOf(parse("--cluster", "a:1"));
  const config = (vectorization: string, workers: number | null) =>
    resolveConfig("a2c", {
      entries: [["vectorization", vectorization], ["workers", workers]],
    });
  checkCluster(config("sync", null), undefined);
  checkCluster(config("ray", 2), options);
  assertThrows(
    () => checkCluster(config("ray", 2), undefined),
    UsageError,
    "without a cluster: expected --cluster ADDRESS, auto or local",
  );
  assertThrows(
    () => checkCluster(config("subprocesses", 2), options),
    UsageError,
    "Cannot use --cluster with vectorization: subprocesses: expected ray",
  );
  assertThrows(
    () => checkCluster(config("ray", null), options),
    UsageError,
    "without workers: expected --workers N",
  );
});
