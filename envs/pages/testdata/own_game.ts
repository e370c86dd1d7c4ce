import { connect } from "@bellman/client";
import { make } from "../../mod.ts";

/** An environment of Bellman in a page. */
connect(({ id }) => make(String(id)));
