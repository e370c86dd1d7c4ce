import type { Env, EnvSpec, Space } from "@bellman/types";
import { checkSpace } from "../_env_data.ts";
import { type EnvKwargs, register } from "../registry/registry.ts";
import { box } from "../spaces/constructors.ts";
import { BanditEnv } from "./bandit_env.ts";
import { ChainEnv } from "./chain_env.ts";
import { IdentityEnv } from "./identity_env.ts";

/** Kind of an option's values: a check and its words. */
type Kind = [check: (value: unknown) => boolean, wanted: string];

const NUMBER: Kind = [(it) => typeof it === "number", "a number"];
const BOOLEAN: Kind = [(it) => typeof it === "boolean", "true or false"];
const NUMBERS: Kind = [
  (it) => Array.isArray(it) && it.every((each) => typeof each === "number"),
  "a list of numbers",
];
const SPACE: Kind = [
  (it) => typeof it === "object" && it !== null && "type" in it,
  "a space",
];

/** Throws unless every option is known and of the right kind. */
function checkKwargs(
  id: string,
  kwargs: EnvKwargs,
  kinds: Record<string, Kind>,
): void {
  for (const [key, value] of Object.entries(kwargs)) {
    if (!Object.hasOwn(kinds, key)) {
      const known = Object.keys(kinds).join(", ");
      throw new TypeError(
        `Cannot make ${id} with '${key}': its options are ${known}`,
      );
    }
    const [check, wanted] = kinds[key];
    if (value === undefined || check(value)) continue;
    const shown = JSON.stringify(value);
    throw new TypeError(
      `Cannot make ${id} with ${key} ${shown}: expected ${wanted}`,
    );
  }
}

function registerToy(
  spec: EnvSpec,
  kinds: Record<string, Kind>,
  makeToy: (kwargs: EnvKwargs) => Env,
): void {
  register({
    ...spec,
    make(kwargs) {
      checkKwargs(spec.id, kwargs, kinds);
      return makeToy(kwargs);
    },
  });
}

registerToy(
  { id: "Identity-v0", maxEpisodeSteps: 100 },
  { actionSpace: SPACE },
  (kwargs) => {
    const given = kwargs.actionSpace as Space | undefined;
    // A box from a file may lack parts that have defaults.
    const actionSpace = given?.type === "box" ? box(given) : given;
    if (actionSpace !== undefined) checkSpace(actionSpace);
    return new IdentityEnv({ actionSpace });
  },
);
registerToy(
  { id: "Bandit-v0" },
  { means: NUMBERS, deviation: NUMBER },
  (kwargs) => new BanditEnv(kwargs),
);
registerToy(
  { id: "Chain-v0", maxEpisodeSteps: 100 },
  { length: NUMBER, endless: BOOLEAN },
  (kwargs) => new ChainEnv(kwargs),
);
