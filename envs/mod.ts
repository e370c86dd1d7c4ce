/**
 * spaces, environments, vector environments and wrappers.
 *
 * @module
 */
export {};
