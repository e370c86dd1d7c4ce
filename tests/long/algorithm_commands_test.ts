/** Commands with the kinds of agents that are not beside the other tests. */
import { ALGORITHMS } from "@bellman/runs/settings";
import { kindsOf, testCommands } from "../testdata/algorithm_commands.ts";

for (const definition of ALGORITHMS) {
  for (const kind of kindsOf(definition).slice(1)) {
    testCommands(definition, kind);
  }
}
