import { openDataset } from "@bellman/buffers/datasets";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { existsSync } from "node:fs";
import { run } from "../command_line.ts";
import { capture } from "../testdata/capture.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-record-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
const POLE = "zoo:a2c/CartPole-v1";

Deno.test("record writes episodes of runs, and adds more", async () => {
  const out = `${dir}/demo`;
  const args = ["record", POLE, POLE, `--out=${out}`, "--max-steps=10"];
  const first = await capture(...args, "--episodes=4");
  assertEquals(
    [first.code, first.out],
    [0, `Recorded 4 episodes, 40 steps, mean return 10 to ${out}\n`],
  );
  const taken = await capture(...args);
  assertEquals([taken.code, taken.out], [2, ""]);
  assertEquals(
    taken.err,
    `error: Cannot record to ${out}: it exists, expected a new folder, or --append to add to its episodes\n`,
  );
  const more = await capture(...args, "--append", "--stochastic");
  assertEquals(more.code, 0, more.err);
  const { numEpisodes } = await openDataset(out, { holdout: 0 });
  assertEquals(numEpisodes, 24);
});

Deno.test("record takes another environment of the same spaces", async () => {
  const args = ["record", POLE, "--episodes=1", `--out=${dir}/other`];
  const { code, out } = await capture(...args, "--env=CartPole-v0");
  assertEquals(code, 0);
  // The older one ends after 200 steps.
  assertStringIncludes(out, "1 episode, 200 steps, mean return 200");
  const wrong = await capture(
    ...args.slice(0, 3),
    "--env=Pendulum-v1",
    "--out=x",
  );
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.err, `its observationSpace is float32`);
  assertEquals(existsSync("x"), false);
});

Deno.test("record says what it needs", async () => {
  const wrong = async (...args: string[]) => {
    const { code, err } = await capture("record", ...args);
    assertEquals([code, err.trimEnd().split("\n").length], [2, 1], err);
    return err;
  };
  assertStringIncludes(await wrong(POLE), "Cannot record without --out");
  assertStringIncludes(await wrong("--out=x"), "Cannot record no runs");
  assertStringIncludes(
    await wrong(POLE, "--out=x", "--against=human"),
    "Cannot record against human",
  );
  assertStringIncludes(
    await wrong(POLE, "--out=x", "--episodes=0"),
    "Cannot use --episodes 0",
  );
});

Deno.test("record shows its progress on a terminal, without odd numbers", async () => {
  let shown = "";
  const code = await run(
    ["record", POLE, `--out=${dir}/shown`, "--episodes=30"],
    {
      out: () => {},
      err: (text) => shown += text,
      outIsTerminal: true,
      errIsTerminal: true,
    },
  );
  assertEquals(code, 0);
  assertStringIncludes(shown, " steps");
  assertEquals(shown.includes("NaN%"), false);
});

/** Plays by hand with lines of text; returns what is shown. */
async function byHand(args: string[], lines: string[]) {
  let shown = "", err = "";
  const code = await run(["play", ...args], {
    out: (text) => shown += text,
    err: (text) => err += text,
    outIsTerminal: true,
    errIsTerminal: true,
    ask: (question) => {
      shown += question;
      return Promise.resolve(lines.shift());
    },
  });
  return { code, shown, err };
}

Deno.test("a person plays an environment, and the whole episodes are recorded", async () => {
  const out = `${dir}/person`;
  const lines = ["1", "2", ...new Array(30).fill("")];
  const args = ["CartPole-v1", "--human", "--episodes=9", `--record=${out}`];
  const { code, shown } = await byHand(args, lines);
  assertEquals(code, 0);
  assertStringIncludes(shown, "Cannot play '2'. Your action (0, 1): ");
  const { numEpisodes, numSteps, meanReturn } = await openDataset(out, {
    holdout: 0,
  });
  assert(numEpisodes >= 2 && numSteps < 31);
  assertStringIncludes(
    shown,
    `Recorded ${numEpisodes} episodes, ${numSteps} steps, mean return ${meanReturn}`,
  );
  const again = await byHand(args, ["1"]);
  assertEquals([again.code, again.shown], [2, ""]);
  const more = await byHand([...args, "--append"], new Array(12).fill("0"));
  assertStringIncludes(more.shown, "Recorded 1 episode, ");
});

Deno.test("a person gives the one number of a box", async () => {
  const args = ["Pendulum-v1", "--human", "--max-steps=3"];
  const { code, shown } = await byHand(args, ["2.1", "-2", "", "1"]);
  assertEquals(code, 0);
  assertStringIncludes(shown, "Cannot play '2.1'. Your action (-2 to 2): ");
  assertStringIncludes(shown, "Return -");
});

Deno.test("a person's game that cannot be is refused in a line", async () => {
  const line = async (...args: string[]) => {
    const { code, err, shown } = await byHand(args, []);
    assertEquals([code, shown], [2, ""]);
    assertEquals(err.trimEnd().split("\n").length, 1, err);
    return err;
  };
  assertStringIncludes(await line("--human"), "Cannot play 0 environments");
  assertStringIncludes(
    await line("CartPole-v1", "--human", "--gif=x.gif"),
    "Cannot use --gif with --human: expected --record",
  );
  assertStringIncludes(
    await line("CartPole-v1", "--record=x"),
    "Cannot use --record without --human: expected 'record'",
  );
  assertStringIncludes(
    await line("Cartpole-v1", "--human"),
    "did you mean 'CartPole-v1'?",
  );
  const { code, err } = await capture("play", "CartPole-v1", "--human");
  assertEquals([code, err], [
    2,
    "error: Cannot play by hand: standard input or output is not a terminal\n",
  ]);
});
