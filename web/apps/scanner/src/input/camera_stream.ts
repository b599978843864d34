/** What keeps a camera from being used, as codes for the words of each language. */
export type CameraFault =
  | 'camera_denied'
  | 'camera_missing'
  | 'camera_busy'
  | 'camera_unsupported'
  /** The decoder could not be loaded or died; the camera may be well. */
  | 'decoder_broken';

export class CameraProblem extends Error {
  constructor(readonly fault: CameraFault) {
    super(fault);
  }
}

export interface CameraChoice {
  id: string;
  /** As the device names it; empty before the first permission. */
  label: string;
}

export type Media = Pick<MediaDevices, 'getUserMedia' | 'enumerateDevices'> & EventTarget;

const WIDTH_PIXELS = 1_280;
const HEIGHT_PIXELS = 720;

/** The chosen camera, or the one that looks away from the user. */
export async function openStream(media: Media | undefined, id: string | null) {
  // Not there at all on a page that came without TLS.
  if (!media?.getUserMedia) throw new CameraProblem('camera_unsupported');
  try {
    return await media.getUserMedia(constraints(id));
  } catch (error) {
    if (id !== null && faultOf(error) === 'camera_missing') return openStream(media, null);
    throw new CameraProblem(faultOf(error));
  }
}

export async function listCameras(media: Media | undefined): Promise<CameraChoice[]> {
  const devices = (await media?.enumerateDevices()) ?? [];
  return devices
    .filter((device) => device.kind === 'videoinput' && device.deviceId !== '')
    .map((device) => ({ id: device.deviceId, label: device.label }));
}

export function hasTorch(track: MediaStreamTrack): boolean {
  // Firefox has no capabilities; no browser's types have the torch.
  const capabilities = track.getCapabilities?.() as { torch?: boolean } | undefined;
  return capabilities?.torch === true;
}

export async function switchTorch(track: MediaStreamTrack, isOn: boolean): Promise<boolean> {
  try {
    await track.applyConstraints({ advanced: [{ torch: isOn } as MediaTrackConstraintSet] });
    return true;
  } catch {
    return false;
  }
}

export function faultOf(error: unknown): CameraFault {
  switch ((error as Partial<DOMException> | null)?.name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return 'camera_denied';
    case 'NotFoundError':
    case 'OverconstrainedError':
      return 'camera_missing';
    case 'NotReadableError':
    case 'AbortError':
      return 'camera_busy';
    default:
      return 'camera_unsupported';
  }
}

function constraints(id: string | null): MediaStreamConstraints {
  const which = id === null ? { facingMode: 'environment' } : { deviceId: { exact: id } };
  return {
    audio: false,
    video: { ...which, width: { ideal: WIDTH_PIXELS }, height: { ideal: HEIGHT_PIXELS } },
  };
}
