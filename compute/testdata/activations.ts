/** Activations of fused operations. */
export const ACTIVATIONS = [
  "linear",
  "relu",
  "relu6",
  "elu",
  "sigmoid",
  "leakyrelu",
] as const;

/** Activations that TensorFlow.js's fused operations have gradients of. */
export const DIFFERENTIABLE = new Set<string>(["linear", "relu"]);
