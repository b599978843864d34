/** The longer and the shorter side of what is decoded: more pixels take longer and find no more. */
export const FRAME_PIXELS_LONG = 960;
export const FRAME_PIXELS_SHORT = 540;

/** A picture of the camera, as the browser hands it over. */
export type Frame = VideoFrame | ImageBitmap;

export interface Size {
  width: number;
  height: number;
}

/** The size to decode a picture at: as it is, or as large as allowed, upright or not. */
export function frameSize({ width, height }: Size): Size {
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  const scale = Math.min(1, FRAME_PIXELS_LONG / long, FRAME_PIXELS_SHORT / short);
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

export function sizeOf(frame: Frame): Size {
  return 'displayWidth' in frame
    ? { width: frame.displayWidth, height: frame.displayHeight }
    : { width: frame.width, height: frame.height };
}
