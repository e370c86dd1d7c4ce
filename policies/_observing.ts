import type { ObservationEncoder } from "./observation_encoder.ts";
import type { Policy } from "./policy.ts";

/** The part of a policy that is about its observations. */
export type Observing = Pick<
  Policy,
  | "observationShape"
  | "observationSize"
  | "observationInput"
  | "observationArray"
  | "encode"
  | "observationTensor"
>;

/** What a policy says of its observations, by their encoder. */
export function observing(encoder: ObservationEncoder): Observing {
  return {
    observationShape: encoder.shape,
    observationSize: encoder.size,
    observationInput: encoder.input,
    observationArray: encoder.copy,
    encode: encoder.encodeTensor,
    observationTensor: encoder.encode,
  };
}
