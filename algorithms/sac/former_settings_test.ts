import { selectBackend } from "@bellman/compute";
import { assertEquals, assertThrows } from "@std/assert";
import { spacesOf } from "../agent/testdata/made_up_env.ts";
import { SAC } from "./sac.ts";
import { FORMER } from "./testdata/former_settings.ts";

await selectBackend("cpu");

const SMALL = { hiddenSizes: [4], bufferSize: 100, batchSize: 4 };

/** Makes an agent with settings that the type does not have. */
function agentOf(settings: object): SAC {
  const notices: string[] = [];
  const agent = new SAC(spacesOf("box"), {
    config: { ...SMALL, ...settings },
    engine: "eager",
    onNotice: (line) => notices.push(line),
  });
  assertEquals(notices, []);
  return agent;
}

Deno.test("what earlier versions took is dropped where it was the default", () => {
  const [agent, same] = [agentOf({}), agentOf(FORMER)];
  assertEquals(same.config, agent.config);
  agent.close();
  same.close();
});

Deno.test("any other value is one line that says where it went", () => {
  const cases: [settings: object, says: string][] = [
    [
      { critics: "value" },
      'critics = "value": a value function is learned by sac-v1 (@bellman/sac-v1)',
    ],
    [
      { policy: "mixture" },
      'policy = "mixture": it is a setting of sac-v1 (@bellman/sac-v1)',
    ],
    [
      { targetUpdateInterval: 2000 },
      "targetUpdateInterval = 2000: it is gone; choose a smaller tau",
    ],
  ];
  for (const [settings, says] of cases) {
    const { message } = assertThrows(() => agentOf(settings), TypeError);
    assertEquals(message, `Cannot run SAC with ${says}`);
  }
});
