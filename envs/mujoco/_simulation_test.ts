import { assertEquals, assertThrows } from "@std/assert";
import { SeededRandom } from "../random.ts";
import { openSimulations, openTask, Simulation } from "./_simulation.ts";
import type { MujocoTaskName } from "./tasks/tasks.ts";
import { isMujocoInstalled } from "./mod.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";

const test = testsWith("MuJoCo", isMujocoInstalled());

/** What contact forces cost, and where it is told. */
const COSTS: [name: MujocoTaskName, weight: string, told: string][] = [
  ["Ant", "contactCostWeight", "reward_contact"],
  ["Humanoid", "contactCostWeight", "reward_contact"],
  ["HumanoidStandup", "impactCostWeight", "reward_impact"],
];

const STEPS = 20;

/** Some steps of a task: how often forces were computed, and what came of it. */
function course(name: MujocoTaskName, given: object) {
  const { model, rules, options: { frameSkip } } = openTask(name, given);
  const simulation = new Simulation(model, rules, frameSkip);
  const { data } = simulation;
  let computed = 0;
  const compute = data.computeContactForces;
  data.computeContactForces = () => {
    computed++;
    compute.call(data);
  };
  simulation.begin(new SeededRandom(3));
  const action = {
    values: new Float32Array(data.ctrl.length).fill(0.2),
    at: 0,
  };
  const rewards = Array.from(
    { length: STEPS },
    () => simulation.step(action).reward,
  );
  const info = simulation.info();
  simulation.close();
  model.close();
  return { computed, rewards, info };
}

for (const [name, weight, told] of COSTS) {
  test(`${name} computes contact forces where they are seen or cost something`, () => {
    const hidden = { includeCfrcExtInObservation: false };
    const free = { [weight]: 0 };
    assertEquals(course(name, {}).computed, STEPS);
    assertEquals(course(name, hidden).computed, STEPS);
    const seen = course(name, free),
      none = course(name, { ...free, ...hidden });
    assertEquals([seen.computed, none.computed], [STEPS, 0]);
    // What is told is Gymnasium's: a reward of minus nothing.
    assertEquals(none.info[told], -0);
    assertEquals(none.info, seen.info);
    assertEquals(none.rewards, seen.rewards);
  });
}

test("simulations that were made are freed with their model where one fails", () => {
  const task = openTask("Hopper", {}), { model } = task;
  const freed: string[] = [];
  let made = 0;
  const makeData = () => {
    if (made === 2) throw new Error("out of memory");
    made++;
    return { close: () => freed.push("data") };
  };
  const broken = {
    ...task,
    model: { ...model, makeData, close: () => freed.push("model") },
  } as unknown as typeof task;
  assertThrows(() => openSimulations(broken, 3), Error, "out of memory");
  assertEquals(freed, ["data", "data", "model"]);
  model.close();
});
