import { make } from "../../registry/registry.ts";
import type { Wrapper } from "../../wrappers/wrapper.ts";
import type { MujocoEnv, MujocoTaskName, MujocoTaskOptions } from "../mod.ts";

/** An environment of a kind, without a time limit. */
export function makeTask<N extends MujocoTaskName>(
  name: N,
  kwargs: MujocoTaskOptions[N],
): MujocoEnv {
  const limited = make(`${name}-v5`, { kwargs: { ...kwargs } });
  return (limited as Wrapper).env as unknown as MujocoEnv;
}
