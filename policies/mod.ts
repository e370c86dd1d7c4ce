/**
 * networks, distributions and actor-critic models.
 *
 * @module
 */
export {};
