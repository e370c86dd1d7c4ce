/**
 * Settings that are known to work, as YAML texts by environment id.
 */
export const ppoPresets: Readonly<Record<string, string>> = {};
