import { connect } from "@bellman/client";
import { Counter } from "../../../client/testdata/counter.ts";

/** A game with other actions in the second program. */
connect((_, index) =>
  new Counter({ actions: index === 0 ? "discrete" : "multi" })
);
