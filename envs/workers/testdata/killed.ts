/** A program whose process hangs; its arguments say where, and name a file. */
import { SubprocessVecEnv } from "../processes/subprocess_vec_env.ts";

const [where, sign] = Deno.args;
const source = {
  id: "Failing-v0",
  kwargs: { where, sign },
  imports: [import.meta.resolve("./failing_env.ts")],
};
// These are all that the process has to end itself with.
const permissions = ["--allow-read", "--allow-write"];
const env = new SubprocessVecEnv(source, { numEnvs: 1, permissions });
env.reset();
env.step(new Int32Array(1));
