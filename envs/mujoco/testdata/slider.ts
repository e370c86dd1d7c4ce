/** A ball on a rail that is to reach a goal: a custom task, registered. */
import { mujocoTask, registerMujoco } from "../mod.ts";

export const SLIDER = mujocoTask({
  name: "Slider",
  xml: `<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <site name="middle"/>
    <camera name="side" pos="0 -3 0"/>
    <body name="ball">
      <joint name="slide" type="slide" axis="1 0 0"/>
      <geom name="ball" type="sphere" size="0.1" mass="1"/>
    </body>
  </worldbody>
  <tendon><fixed name="line"><joint joint="slide" coef="1"/></fixed></tendon>
  <actuator><motor name="motor" joint="slide" ctrlrange="-1 1"/></actuator>
  <sensor><jointvel name="speed" joint="slide"/></sensor>
</mujoco>`,
  frameSkip: 2,
  resetNoiseScale: 0.05,
  options: { goal: 1 },
  begin({ qpos }, { random }) {
    qpos[0] += random.uniform(-0.5, 0.5);
  },
  observe: ({ qpos, qvel, siteXpos }, { options }) => [
    qpos,
    qvel,
    options.goal - qpos[0],
    siteXpos[0],
  ],
  isTerminated: ({ qpos }) => Math.abs(qpos[0]) > 4,
  reward: ({ qpos }, { action, options }) => ({
    distance: -Math.abs(options.goal - qpos[0]),
    cost: -0.1 * action[0] ** 2,
  }),
});

registerMujoco(SLIDER, { id: "Slider-v0", maxEpisodeSteps: 100 });
