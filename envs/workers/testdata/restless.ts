/** Makes no copies: what it does beside throws first. */
import type { VecEnv } from "@bellman/types";

function fail(aside: string): never {
  throw new RangeError(`thrown in a ${aside}`);
}

export default function makeNothing(
  { aside }: { aside: string },
): Promise<VecEnv> {
  if (aside === "timer") setTimeout(() => fail(aside));
  else Promise.resolve(aside).then(fail);
  return new Promise(() => {});
}
