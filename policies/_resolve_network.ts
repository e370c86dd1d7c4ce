import { createNetwork, type CreateNetworkOptions } from "./create_network.ts";
import type { NetworkName } from "./create_network.ts";
import type { Network } from "./network.ts";

/**
 * The network itself, made from its name where only that is given.
 *
 * @throws {RangeError} If there is no network of that name, the options do not
 * fit it, or a network that is given takes other inputs.
 */
export function resolveNetwork(
  network: NetworkName | Network,
  options: CreateNetworkOptions,
): Network {
  if (typeof network === "string") return createNetwork(network, options);
  const { inputShape } = options;
  if (String(network.inputShape) === String(inputShape)) return network;
  throw new RangeError(
    `Cannot apply a network for inputs [${network.inputShape}] to ` +
      `observations [${inputShape}]: the shapes must be the same`,
  );
}
