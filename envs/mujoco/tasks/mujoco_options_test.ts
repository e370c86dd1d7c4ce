import { assertEquals, assertThrows } from "@std/assert";
import { resolveOptions } from "./mujoco_options.ts";
import { defaultsOf } from "./mujoco_task.ts";
import { TASKS } from "./tasks.ts";

const defaults = defaultsOf(TASKS.Ant);
const resolve = (options: object) => resolveOptions("Ant", defaults, options);

Deno.test("options that are left out have their defaults", () => {
  assertEquals<object>(resolve({ mainBody: "torso", frameSkip: undefined }), {
    ...defaults,
    mainBody: "torso",
    width: 480,
    height: 480,
    engine: "auto",
  });
});

Deno.test("an unknown option is refused with the nearest one", () => {
  const cases = [
    [{ ctrl_cost_weight: 1 }, "ctrlCostWeight"],
    [{ healtyReward: 1 }, "healthyReward"],
    [{ xml_file: "ant.xml" }, "xmlFile"],
    [{ defaultCameraConfig: { trackbodyid: 1 } }, "trackBodyId"],
  ] as const;
  for (const [options, nearest] of cases) {
    assertThrows(
      () => resolve(options),
      TypeError,
      `did you mean '${nearest}'?`,
    );
  }
});

Deno.test("a value that cannot be is refused with what is wanted", () => {
  const cases = [
    [{ frameSkip: 0 }, "frameSkip 0: expected a whole number of at least 1"],
    [{ frameSkip: 1.5 }, "a whole number of at least 1"],
    [{ forwardRewardWeight: NaN }, "NaN: expected a finite number"],
    [{ healthyZRange: [1, 0] }, "a lower and an upper number"],
    [{ healthyZRange: [1] }, "a lower and an upper number"],
    [{ mainBody: 1.5 }, "a body's name or number"],
    [{ engine: "gpu" }, "auto, native, wasm"],
    [{ defaultCameraConfig: { lookAt: [1] } }, "three numbers"],
    [{ defaultCameraConfig: [] }, "[]: expected a plain object"],
    [{ defaultCameraConfig: new Map() }, "Map(0) {}: expected a plain"],
  ] as const;
  for (const [options, wanted] of cases) {
    assertThrows(() => resolve(options), RangeError, wanted);
  }
  const both = { cameraId: 0, cameraName: "track" };
  assertThrows(() => resolve(both), TypeError, "both a cameraId");
});

Deno.test("a value of another type is refused with what is wanted", () => {
  const cases = [
    [{ frameSkip: 1n }, "1n: expected a whole number of at least 1"],
    [{ forwardRewardWeight: "1" }, '"1": expected a finite number'],
    [{ healthyZRange: 1 }, "a lower and an upper number"],
    [{ terminateWhenUnhealthy: 1 }, "true or false"],
    [{ mainBody: true }, "a body's name or number"],
    [
      { defaultCameraConfig: null },
      "Cannot make Ant with defaultCameraConfig null: expected a plain object",
    ],
    [{ defaultCameraConfig: 4 }, "4: expected a plain object"],
    [{ xmlFile: 3 }, "a string"],
  ] as const;
  for (const [options, wanted] of cases) {
    assertThrows(() => resolve(options), TypeError, wanted);
  }
});
