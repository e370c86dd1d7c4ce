/**
 * Folders of trained agents for other people: made, described and checked.
 *
 * @module
 */
export { LICENSE, NAME, readClaims } from "./card.ts";
export { checkShared } from "./check_shared.ts";
export { type ShareOptions, shareRun } from "./share_run.ts";
export { CARD_FILE } from "./shared_files.ts";
