import { assertEquals, assertMatch } from "@std/assert";
import { readCell } from "@bellman/experiments";
import { testsWith } from "../../tests/testdata/tests_with.ts";
import {
  hasPython,
  scriptedPython,
} from "../../lab/runs/ray/testdata/scripted_ray.ts";
import { capture } from "../testdata/capture.ts";

Deno.test("several seeds are an experiment of one variant", async () => {
  const dir = await Deno.makeTempDir();
  const train = [
    ...["train", "--env", "CartPole-v1", "--steps", "400", "--seed", "5"],
    ...["--set", "lr=0.001", "--set", "hiddenSizes=[4]", "--engine", "eager"],
    ...["--backend", "cpu", "--jobs", "2", "--out", `${dir}/seeds`],
  ];
  const one = await capture(...train, "--seeds", "1");
  assertEquals(one.code, 0, one.err);
  const two = await capture(...train, "--seeds", "2");
  assertMatch(two.out, /^Running 1 of 2 cells/);
  const environment = "CartPole-v1", variant = "a2c";
  const results = [5, 6].map((seed) => {
    const cell = `${dir}/seeds/runs/a2c/CartPole-v1/seed-${seed}`;
    return readCell({ variant, environment, seed, dir: cell });
  });
  assertEquals(results.map(({ state, steps }) => [state, steps]), [
    ["finished", 400],
    ["finished", 400],
  ]);
  // The same numbers as those of a run by hand.
  const run = `${dir}/run`;
  const alone = await capture(
    ...train.filter((it) => !/^--(jobs|out)$|^2$|seeds$/.test(it)),
    ...["--quiet", "--out", run],
  );
  assertEquals(alone.code, 0, alone.err);
  const { out } = await capture(
    ...["eval", run, "--checkpoint", "latest", "--json"],
    ...["--episodes", "100", "--seed", "20000"],
  );
  assertEquals(JSON.parse(out).meanReturn, results[0].last!.meanReturn);
  // The folder is an experiment as others are.
  const again = await capture("experiment", `${dir}/seeds`, "--trust");
  assertMatch(again.out, /^2 of 2 cells finished/);
  await Deno.remove(dir, { recursive: true });
});

testsWith("Python", hasPython)("seeds are runs on a cluster", async () => {
  Deno.env.set("BELLMAN_RAY_PYTHON", scriptedPython());
  const dir = await Deno.makeTempDir();
  const { code, out, err } = await capture(
    ...["train", "--env", "CartPole-v1", "--steps", "400", "--seeds", "2"],
    ...["--set", "hiddenSizes=[4]", "--out", `${dir}/seeds`],
    ...["--cluster", '{"cpus":[2]}', "--cpus-per-run", "2"],
  );
  assertEquals([code, err.includes("error")], [0, false], err);
  assertMatch(out, /Running 2 of 2 cells, 1 at a time/);
  const seed = `${dir}/seeds/runs/a2c/CartPole-v1/seed-1`;
  assertMatch(Deno.readTextFileSync(`${seed}/config.yaml`), /^threads: 2$/m);
  assertMatch(
    Deno.readTextFileSync(`${seed}/config.yaml`),
    /^vectorization: (auto|sync|null)$/m,
  );
  await Deno.remove(dir, { recursive: true });
});

const REFUSED: Readonly<Record<string, string>> = {
  "--jobs 2": "Cannot use --jobs without --seeds",
  "--seeds 2 --resume runs/a": "Cannot use both --seeds and --resume",
  "--seeds 2 --print-config": "Cannot use both --seeds and --print-config",
  "--seeds 0": "Cannot use --seeds 0",
  "--cpus-per-run 2": "Cannot use --cpus-per-run without --seeds",
  "--seeds 2 --cluster a:1 --cluster-listen b":
    "Cannot use both --seeds and --cluster-listen",
  "--seeds 2 --name a/b": "Cannot use --name a/b",
  "--seeds 2 --set gama=1": "Unknown key 'gama'",
};

for (const [args, message] of Object.entries(REFUSED)) {
  Deno.test(`train ${args} is refused in one line`, async () => {
    const { code, err } = await capture("train", ...args.split(" "));
    assertEquals([code, err.includes(message)], [2, true], err);
  });
}
