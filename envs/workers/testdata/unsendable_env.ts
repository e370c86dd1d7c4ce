import { ChainEnv } from "../../toy/environments.ts";
import type { StateTree, VecEnv } from "@bellman/types";
import { SyncVecEnv } from "../../sync_vec_env.ts";
import type { EnvSlice } from "../group_hosts.ts";

/** A chain whose snapshot holds what cannot be sent. */
class UnsendableEnv extends ChainEnv {
  override save(): StateTree {
    return { draw: () => 0 } as unknown as StateTree;
  }
}

export default function makeUnsendable({ numEnvs }: EnvSlice): VecEnv {
  return new SyncVecEnv(
    Array.from({ length: numEnvs }, () => () => new UnsendableEnv()),
  );
}
