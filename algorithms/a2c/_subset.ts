import type { Params } from "@bellman/compute";

/** The entries whose path does not start with `prefix`, in their order. */
export function without(params: Params, prefix: string): Params {
  return Object.fromEntries(
    Object.entries(params).filter(([path]) => !path.startsWith(prefix)),
  );
}
