/**
 * advantage actor-critic.
 *
 * @module
 */
export {};
