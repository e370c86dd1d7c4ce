/**
 * Episodes of an agent as pictures, GIFs and videos.
 *
 * @module
 */
export { captionOf, withCaption } from "./caption.ts";
export { enlarged, frameRateOf, playEpisodes } from "./episodes.ts";
export { GifWriter, MOST_GIF_FRAMES_PER_SECOND } from "./gif.ts";
export { hasFfmpeg, Mp4Writer } from "./mp4.ts";
export { type PictureSink, pngSink, terminalSink } from "./pictures.ts";
