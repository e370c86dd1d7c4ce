/**
 * backend choice, pure optimizers, gradients and seeded random streams.
 *
 * @module
 */
export {};
