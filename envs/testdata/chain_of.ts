import type { Env } from "@bellman/types";
import { discrete } from "../spaces/constructors.ts";
import { ChainEnv } from "../toy/environments.ts";
import { TransformObservation } from "../wrappers/transforms.ts";

/** A chain of any length below 20, with the same spaces as any other. */
export function chainOf(length: number): Env {
  return new TransformObservation(new ChainEnv({ length }), (it) => it, {
    space: discrete(20),
  });
}
