/**
 * schedules as pure functions of progress.
 *
 * @module
 */
export {};
