import type { AgentSpaces, BuildContext } from "@bellman/agent";
import { RandomStream } from "@bellman/compute";
import { Observations } from "@bellman/policies";

/** Returns what the parts of an algorithm are built from, where no agent acts. */
export function buildContext(
  { actionMasks, ...spaces }: AgentSpaces,
  totalTimesteps = 100,
): BuildContext {
  return {
    ...spaces,
    totalTimesteps,
    masked: Boolean(actionMasks),
    random: new RandomStream(1),
    observations: new Observations(spaces.observationSpace),
    learned: undefined as never,
  };
}
