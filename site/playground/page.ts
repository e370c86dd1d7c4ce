/// <reference lib="dom" />
/** The page: its fields, buttons and pictures. All work is done by two workers. */
import { setUpPlaying } from "./play_page.ts";
import { setUpTraining } from "./train_page.ts";

setUpTraining();
setUpPlaying();
