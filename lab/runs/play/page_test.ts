import { assertRejects } from "@std/assert";
import { UsageError } from "../program/errors.ts";
import { gamePage } from "./page.ts";

const NONE = { policy: new Uint8Array(), modules: [] };

Deno.test("a game of Python's has no page", async () => {
  await assertRejects(
    () => gamePage({ env: "pz:connect_four_v3", envKwargs: {} }, NONE),
    UsageError,
    "Cannot write a page of pz:connect_four_v3: Python plays it, expected a game in TypeScript",
  );
});

Deno.test("a file that is no policy is one line", async () => {
  await assertRejects(
    () => gamePage({ env: "TicTacToe-v0", envKwargs: {} }, NONE),
    SyntaxError,
    "Cannot play the policy: it has no graph",
  );
});
