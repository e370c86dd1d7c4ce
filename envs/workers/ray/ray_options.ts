/** Cluster of Ray, and how it is used. */
export interface RayOptions {
  /**
   * Address of the cluster's head, `HOST:PORT`; `auto`: that of the variable
   * RAY_ADDRESS; `local`: a node that is started here, and ended.
   */
  readonly cluster: string;
  /**
   * The Python that has Ray, here.
   *
   * @default the variable BELLMAN_RAY_PYTHON, then BELLMAN_PYTHON, then "python3"
   */
  readonly python?: string;
  /**
   * Address that hosts connect to, `HOST` or `HOST:PORT`.
   *
   * @default the address that Ray knows this machine by, with any port
   */
  readonly listen?: string;
  /**
   * Code that hosts run: the folder, which Ray carries to the nodes (`ship`), or what
   * is at the same path on each node (`here`).
   *
   * @default "ship"
   */
  readonly code?: "ship" | "here";
  /**
   * Folder of the code: all modules that hosts import from files are in it.
   *
   * @default the outermost folder above the modules here that has a `deno.json`, or
   * the current one where those are not files
   */
  readonly folder?: string;
  /**
   * Callback that takes a line that the user should see.
   *
   * @default a function that prints it to stderr
   */
  readonly onNotice?: (line: string) => void;
}
