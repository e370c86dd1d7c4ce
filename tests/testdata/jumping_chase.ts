import { register } from "@bellman/envs";
import { Chase } from "../../envs/pages/testdata/chase.ts";

register({ id: "Chase-v0", make: () => new Chase() });
