/** Our programs, in the one file that a machine without Deno gets. */
const PROGRAMS: Readonly<Record<string, () => Promise<unknown>>> = {
  a2c: () => import("../bellman_device_a2c.ts"),
  ppo: () => import("../bellman_device_ppo.ts"),
  dqn: () => import("../bellman_dqn_update.ts"),
  td3: () => import("../bellman_td3_update.ts"),
  sac: () => import("../bellman_sac_update.ts"),
  nature: () => import("../bellman_nature_a2c.ts"),
  fixtures: async () =>
    await (await import("../../reference_runner/main.ts")).main(),
};

/** Runs one of our programs in this process. */
export async function runInside(name: string): Promise<void> {
  await PROGRAMS[name]();
}
