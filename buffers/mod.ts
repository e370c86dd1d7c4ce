/**
 * preallocated experience buffers.
 *
 * @module
 */
export {};
