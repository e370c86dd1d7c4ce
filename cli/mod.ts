/**
 * the command line.
 *
 * @module
 */
export {};
