/** Commands with the kinds of agents that are not beside the other tests. */
import { LIVE_ALGORITHMS } from "../testdata/live_algorithms.ts";
import { kindsOf, testCommands } from "../testdata/algorithm_commands.ts";

for (const definition of LIVE_ALGORITHMS) {
  for (const kind of kindsOf(definition).slice(1)) {
    testCommands(definition, kind);
  }
}
