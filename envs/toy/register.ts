import { type EnvKwargs, register } from "../registry.ts";
import type { Space } from "@bellman/types";
import {
  box,
  discrete,
  multiBinary,
  multiDiscrete,
} from "../spaces/constructors.ts";
import { BanditEnv } from "./bandit_env.ts";
import { ChainEnv } from "./chain_env.ts";
import { IdentityEnv } from "./identity_env.ts";

type Check = (value: unknown) => boolean;

const isNumber: Check = (value) => typeof value === "number";
const isBoolean: Check = (value) => typeof value === "boolean";
const isNumbers: Check = (value) =>
  Array.isArray(value) && value.every(isNumber);
const isSpace: Check = (value) =>
  typeof value === "object" && value !== null && "type" in value;

/** Throws unless every option is known and of the right kind. */
function checkKwargs(
  id: string,
  kwargs: EnvKwargs,
  known: Record<string, [check: Check, wanted: string]>,
): void {
  for (const [key, value] of Object.entries(kwargs)) {
    if (!Object.hasOwn(known, key)) {
      throw new TypeError(
        `Cannot make ${id} with '${key}': its options are ${
          Object.keys(known).join(", ")
        }`,
      );
    }
    const [check, wanted] = known[key];
    if (value === undefined || check(value)) continue;
    throw new TypeError(
      `Cannot make ${id} with ${key} ${
        JSON.stringify(value)
      }: expected ${wanted}`,
    );
  }
}

/** A space that may come from a file, checked by making it anew. */
function checkedSpace(space: Space): Space {
  switch (space.type) {
    case "discrete":
      return discrete(space.n, { start: space.start });
    case "box":
      return box(space);
    case "multiDiscrete":
      return multiDiscrete(space.nvec);
    case "multiBinary":
      return multiBinary(space.n);
    default:
      return space;
  }
}

register({
  id: "Identity-v0",
  maxEpisodeSteps: 100,
  make(kwargs) {
    checkKwargs("Identity-v0", kwargs, { actionSpace: [isSpace, "a space"] });
    const space = kwargs.actionSpace as Space | undefined;
    return new IdentityEnv({ actionSpace: space && checkedSpace(space) });
  },
});

register({
  id: "Bandit-v0",
  make(kwargs) {
    checkKwargs("Bandit-v0", kwargs, {
      means: [isNumbers, "a list of numbers"],
      deviation: [isNumber, "a number"],
    });
    return new BanditEnv(kwargs);
  },
});

register({
  id: "Chain-v0",
  maxEpisodeSteps: 100,
  make(kwargs) {
    checkKwargs("Chain-v0", kwargs, {
      length: [isNumber, "a number"],
      endless: [isBoolean, "true or false"],
    });
    return new ChainEnv(kwargs);
  },
});
