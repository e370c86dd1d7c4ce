/**
 * the training loop.
 *
 * @module
 */
export {};
