/** A file's name for an environment or a preset, without an ending. */
export function fileNameOf(name: string): string {
  return name.replaceAll(/[/:]/g, "-");
}
