import { assert, assertEquals, assertThrows } from "@std/assert";
import { isMujocoInstalled, MujocoEnv } from "../mod.ts";
import { testsWith } from "../../../tests/testdata/tests_with.ts";

const test = testsWith("MuJoCo", isMujocoInstalled());
const size = { width: 60, height: 40 };

/** How many pixels of two pictures differ by more than rounding. */
function difference(a: Uint8Array, b: Uint8Array): number {
  return a.reduce((n, it, i) => n + (Math.abs(it - b[i]) > 2 ? 1 : 0), 0) / 3;
}

function picture(env: MujocoEnv): Uint8Array {
  env.reset({ seed: 1 });
  const { data } = env.render(size);
  env.close();
  return data;
}

/** Pixels of nearly a colour. */
function count(
  data: Uint8Array,
  isIt: (r: number, g: number, b: number) => boolean,
): number {
  let pixels = 0;
  for (let i = 0; i < data.length; i += 3) {
    if (isIt(data[i], data[i + 1], data[i + 2])) pixels++;
  }
  return pixels;
}

test("a picture shows sky, floor and body, and draws nothing anew", () => {
  const env = new MujocoEnv("HalfCheetah", size);
  env.reset({ seed: 1 });
  const { width, height, data } = env.render();
  assertEquals([width, height, data.length], [60, 40, 60 * 40 * 3]);
  // The model's body is brown, its floor green, the sky blue.
  assert(count(data, (r, g, b) => r > g + 20 && g > b + 10) > 15);
  assert(count(data, (r, g, b) => g > r + 5 && g > b + 5) > 500);
  assert(count(data, (r, _, b) => b > r + 20) > 100);
  assertEquals(env.render().data, data);
  env.close();
});

test("the camera follows the body, others of the model stand elsewhere", () => {
  const env = new MujocoEnv("HalfCheetah");
  env.reset({ seed: 1 });
  const { qpos, qvel } = env;
  const before = env.render(size).data;
  // Ten squares of the floor along x: it looks the same from there.
  qpos[0] += 10;
  env.setState(qpos, qvel);
  assertEquals(difference(env.render(size).data, before), 0);
  qpos[1] += 0.5;
  env.setState(qpos, qvel);
  assert(difference(env.render(size).data, before) > 300);
  env.close();
  const tracked = picture(
    new MujocoEnv("HalfCheetah", { cameraName: "track" }),
  );
  assertEquals(picture(new MujocoEnv("HalfCheetah", { cameraId: 0 })), tracked);
  assert(difference(tracked, before) > 300);
  const above = { elevation: -89, distance: 5, azimuth: 0, lookAt: [0, 0, 1] };
  const down = picture(
    new MujocoEnv("HalfCheetah", { defaultCameraConfig: above }),
  );
  assertEquals(count(down, (r, _, b) => b > r + 20), 0);
});

test("both engines give the same picture", async () => {
  await import("../wasm.ts");
  const [native, wasm] = (["auto", "wasm"] as const).map((engine) =>
    picture(new MujocoEnv("Reacher", { engine }))
  );
  assert(difference(native, wasm) < 5);
});

test("all kinds of geoms are drawn, meshes too", async () => {
  const path = await Deno.makeTempFile({ suffix: ".xml" });
  const mesh = `<mesh name="tip" vertex="-1 -1 -1 1 -1 -1 0 1 -1 0 0 1"/>`;
  const camera = { trackBodyId: -1, distance: 8, elevation: -30 };
  const cases = [
    `type="sphere" size="1"`,
    `type="capsule" size="0.7 0.5"`,
    `type="ellipsoid" size="1 0.5 0.7"`,
    `type="cylinder" size="0.8 0.6"`,
    `type="box" size="0.7 0.8 0.6"`,
    `type="mesh" mesh="tip"`,
  ];
  for (const geom of cases) {
    await Deno.writeTextFile(
      path,
      `<mujoco><asset>${mesh}</asset><worldbody><body><freejoint name="free"/>
      <geom ${geom} rgba="1 0 0 1"/></body></worldbody><actuator>
      <motor joint="free" ctrlrange="-1 1"/></actuator></mujoco>`,
    );
    const env = new MujocoEnv("HalfCheetah", {
      xmlFile: path,
      defaultCameraConfig: camera,
    });
    env.reset({ seed: 0 });
    const { data } = env.render(size);
    assert(count(data, (r, g, b) => r > 90 && g + b < 60) > 60, geom);
    env.close();
  }
  await Deno.remove(path);
});

test("sizes and cameras that cannot be are refused", () => {
  const env = new MujocoEnv("HalfCheetah", { cameraName: "tracks" });
  env.reset({ seed: 0 });
  assertThrows(
    () => env.render(),
    RangeError,
    'Cannot look through the camera "tracks"',
  );
  env.close();
  const other = new MujocoEnv("HalfCheetah", { cameraId: 1 });
  assertThrows(() => other.render(), RangeError, "camera 1: the model has 1");
  for (const width of [0, 1.5, 1e6]) {
    assertThrows(() => other.render({ width }), RangeError, "Cannot draw");
  }
  other.close();
});
