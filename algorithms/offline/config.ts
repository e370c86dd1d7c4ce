import type { OnPolicyConfig } from "@bellman/a2c";
import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import type { InitializerName } from "@bellman/policies";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of cloning (bc) and of implicit Q-learning (iql), which take some of them
 * each. The comments are the command line's `--help`; the tags are the defaults, ranges
 * and other names, for YAML files and `--set` as well.
 *
 * @defaults {"learningRate": 0.0003, "learningRateSchedule": "constant", "numSteps": 16}
 */
interface LayersConfig
  extends
    Pick<
      OnPolicyConfig,
      | "network"
      | "partNetworks"
      | "learningRate"
      | "learningRateSchedule"
      | "initialLogStd"
    > {}
