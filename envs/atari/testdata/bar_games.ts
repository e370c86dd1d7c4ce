/** The games that are held to everything in the tests. */
export const BAR_GAMES: readonly string[] = [
  "pong",
  "breakout",
  "space_invaders",
  "seaquest",
  "qbert",
  "beam_rider",
  "freeway",
  "ms_pacman",
];
