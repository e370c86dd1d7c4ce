import { connect } from "@bellman/client";
import { Counter } from "../../../client/testdata/counter.ts";

/** A game in a page, or a program. */
connect((kwargs) => new Counter(kwargs));
