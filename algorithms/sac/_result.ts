import { type Params, polyak } from "@bellman/compute";
import type * as tf from "@tensorflow/tfjs";
import type { Estimates } from "./_critics.ts";
import type { Descent } from "./_descend.ts";
import { sacDiagnostics } from "./diagnostics.ts";
import { absoluteTdErrors } from "./loss.ts";
import type { TemperatureStep } from "./_temperature.ts";
import type { SacState, SacUpdateResult } from "./update_types.ts";

/** What the steps of an update make together; the target networks move. */
export function resultOf(
  { targets }: SacState,
  { critics, actor, temperature }: {
    critics: Descent<Estimates>;
    actor: Descent<Params>;
    temperature: TemperatureStep;
  },
  { wanted, tau, alpha, entropy }: {
    /** What the Q functions were to become. */
    wanted: tf.Tensor1D;
    tau: tf.Scalar;
    alpha: tf.Scalar;
    entropy: tf.Scalar;
  },
): SacUpdateResult {
  const { qf1, qf2 } = critics.aux;
  return {
    state: {
      policy: actor.params,
      critics: critics.params,
      targets: polyak(targets, critics.params, { tau }),
      temperature: temperature.params,
      policySlots: actor.slots,
      criticSlots: critics.slots,
      temperatureSlots: temperature.slots,
    },
    stats: {
      ...sacDiagnostics({ qf1, qf2, targets: wanted }),
      critic_loss: critics.loss,
      actor_loss: actor.loss,
      ent_coef: alpha,
      entropy,
      ...(temperature.loss && { ent_coef_loss: temperature.loss }),
    },
    tdErrors: absoluteTdErrors([qf1, qf2], wanted),
  };
}
