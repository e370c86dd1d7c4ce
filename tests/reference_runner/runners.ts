import { a2cUpdateRunner } from "./a2c_update.ts";
import { acerRetraceRunner } from "./acer_retrace.ts";
import type { FixtureRunner } from "./comparison.ts";
import { envDynamicsRunner } from "./env_dynamics.ts";
import { lstmEntropyOrthoRunner } from "./lstm_entropy_ortho.ts";
import { returnsRunner } from "./returns.ts";
import { schedulesRunner } from "./schedules.ts";

/** What runs a fixture, by the name that the fixture gives itself. */
export const runners: Readonly<Record<string, FixtureRunner>> = {
  a2c_update: a2cUpdateRunner,
  acer_retrace: acerRetraceRunner,
  env_dynamics: envDynamicsRunner,
  lstm_entropy_ortho: lstmEntropyOrthoRunner,
  returns: returnsRunner,
  schedules: schedulesRunner,
};
