import type { Env, EnvSpec, VecEnv } from "@bellman/types";
import { register } from "../registry.ts";
import type { BatchedOptions } from "./dynamics_vec_env.ts";

/** The two forms of an environment. */
export interface Forms {
  single: new () => Env;
  batched: new (options: BatchedOptions) => VecEnv;
}

function checkNoKwargs(id: string, kwargs: object): void {
  const [key] = Object.keys(kwargs);
  if (key === undefined) return;
  throw new TypeError(`Cannot make ${id} with '${key}': it has no options`);
}

/** Makes an environment without options of its own known by name. */
export function registerClassic(spec: EnvSpec, forms: Forms): void {
  const { id } = spec;
  register({
    ...spec,
    make(kwargs) {
      checkNoKwargs(id, kwargs);
      return new forms.single();
    },
    makeVec({ numEnvs, maxEpisodeSteps, kwargs }) {
      checkNoKwargs(id, kwargs);
      return new forms.batched({
        numEnvs,
        maxEpisodeSteps,
        spec: { ...spec, maxEpisodeSteps },
      });
    },
  });
}
