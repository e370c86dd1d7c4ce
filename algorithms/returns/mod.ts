/**
 * returns and advantages on typed arrays.
 *
 * @module
 */
export {};
