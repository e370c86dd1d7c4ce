import { pythons } from "../../files/testdata/numpy.ts";

/** Prints the library that came with numpy, where there is one. */
const PRINT =
  "import glob, numpy; print(*glob.glob(numpy.__path__[0] + '.libs/*openblas*'))";

/** Finds the OpenBLAS of a Python's numpy. */
export function numpyOpenBlas(): string | undefined {
  for (const python of pythons()) {
    const path = printedBy(python);
    if (path !== "") return path;
  }
}

function printedBy(python: string): string {
  try {
    const command = new Deno.Command(python, { args: ["-c", PRINT] });
    return new TextDecoder().decode(command.outputSync().stdout).trim();
  } catch {
    return "";
  }
}
