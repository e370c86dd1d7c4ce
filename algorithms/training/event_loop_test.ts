import { assert } from "@std/assert";
import { runDeno } from "../../tests/testdata/run_deno.ts";
import { EventLoopBreak } from "./event_loop.ts";

Deno.test({
  name: "a signal is heard within a few turns",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const program = new URL("testdata/signal_turns.ts", import.meta.url);
    const { out } = await runDeno(["-A", program.pathname]);
    const turns = Number(out);
    assert(turns >= 1 && turns <= 8, `${turns} turns`);
  },
});

Deno.test("calls that take long are each a reason for a break", () => {
  const turn = new EventLoopBreak();
  const wait = (ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end;);
  };
  wait(300);
  assert(turn.due());
  for (let i = 0; i < 3; i++) {
    wait(60);
    assert(turn.due());
  }
});
