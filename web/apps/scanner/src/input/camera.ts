import {
  CameraProblem,
  faultOf,
  hasTorch,
  listCameras,
  openStream,
  switchTorch,
  type CameraChoice,
  type CameraFault,
  type Media,
} from './camera_stream.ts';
import { startDecoder, type Decoder } from './decoder.ts';
import type { Frame } from './frame.ts';
import { Once } from './once.ts';

export type { CameraChoice, CameraFault } from './camera_stream.ts';

/** Twenty frames a second: more would empty the battery and read no sooner. */
const FRAME_MS_MIN = 50;
/** Browsers that call for no frame, as for a video that nobody sees, are asked so often. */
const FRAME_MS_MAX = 200;
const RETRY_MS = 2_000;
/** A camera that shows nothing for so long, as during a phone call, is opened again. */
const MUTED_MS_MAX = 4_000;
/** Of `readyState`: there is a picture. */
const HAVE_CURRENT_DATA = 2;
const REMEMBERED = 'scanner.camera';
/** Only a person can change them. */
const LASTING: readonly CameraFault[] = ['camera_denied', 'camera_unsupported'];

export interface CameraState {
  phase: 'off' | 'starting' | 'on' | 'failed';
  fault: CameraFault | null;
  cameraId: string | null;
  torch: 'none' | 'off' | 'on';
}

interface Memory {
  recall(key: string): string | undefined;
  keep(key: string, value: string): void;
}

/** What of the browser is used. */
export interface CameraBrowser {
  media: Media | undefined;
  page: Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>;
  now: () => number;
  startDecoder: () => Promise<Decoder>;
  grab: (video: HTMLVideoElement) => Promise<Frame>;
}

export interface CameraOptions {
  /** A code that counts: once, however long it stays in view. */
  onRead: (text: string) => void;
  onChange?: (state: CameraState) => void;
  /** What decoding each frame took, in milliseconds. */
  onFrame?: (ms: number) => void;
  memory?: Memory;
  browser?: CameraBrowser;
}

const OFF: CameraState = { phase: 'off', fault: null, cameraId: null, torch: 'none' };

/** Reads codes from a camera until it is stopped, and comes back by itself whenever it can. */
export class Camera {
  readonly once = new Once();
  readonly #options: CameraOptions;
  readonly #browser: CameraBrowser;
  #state = OFF;
  #chosen: string | undefined;
  #isTorchWanted = false;
  #video: HTMLVideoElement | undefined;
  #track: MediaStreamTrack | undefined;
  #decoder: Promise<Decoder> | undefined;
  /** The present attempt; the results of an earlier one are discarded. */
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: CameraOptions) {
    this.#options = options;
    this.#browser = options.browser ?? browserOf(globalThis.navigator, globalThis.document);
  }

  get state(): CameraState {
    return this.#state;
  }

  /** Shows the camera in the video and reads codes from it. */
  start(video: HTMLVideoElement): void {
    this.stop();
    this.#video = video;
    this.#browser.page.addEventListener('visibilitychange', this.#open);
    this.#browser.media?.addEventListener('devicechange', this.#openAfterFault);
    this.#open();
  }

  stop(): void {
    this.#browser.page.removeEventListener('visibilitychange', this.#open);
    this.#browser.media?.removeEventListener('devicechange', this.#openAfterFault);
    this.#video = undefined;
    this.#release();
    this.#tell(OFF);
  }

  /** Stops, and gives back the memory that the decoder holds. */
  close(): void {
    this.stop();
    this.#dropDecoder();
  }

  cameras(): Promise<CameraChoice[]> {
    return listCameras(this.#browser.media);
  }

  /** This camera, now and the next time. */
  choose(id: string): void {
    this.#options.memory?.keep(REMEMBERED, id);
    this.#chosen = id;
    this.#open();
  }

  async setTorch(isOn: boolean): Promise<void> {
    this.#isTorchWanted = isOn;
    const track = this.#track;
    if (!track || !hasTorch(track) || !(await switchTorch(track, isOn))) return;
    if (track === this.#track) this.#tell({ ...this.#state, torch: isOn ? 'on' : 'off' });
  }

  readonly #open = (): void => {
    this.#release();
    const video = this.#video;
    if (!video || this.#browser.page.visibilityState !== 'visible') return;
    const attempt = this.#attempt;
    // A fault stays on the screen until the camera is really back.
    if (this.#state.phase !== 'failed') this.#tell({ ...OFF, phase: 'starting' });
    this.#run(video, attempt).catch((error: unknown) => {
      if (attempt === this.#attempt) this.#fail(error);
    });
  };

  readonly #openAfterFault = (): void => {
    if (this.#state.phase === 'failed') this.#open();
  };

  async #run(video: HTMLVideoElement, attempt: number): Promise<void> {
    // Loaded while the person is asked for permission.
    const loading = (this.#decoder ??= this.#browser.startDecoder());
    loading.catch(() => undefined);
    const track = await this.#openTrack(video, attempt);
    if (!track) return;
    const decoder = await loading.catch(() => {
      throw new CameraProblem('decoder_broken');
    });
    if (attempt !== this.#attempt) return;
    const cameraId = track.getSettings().deviceId ?? null;
    this.#tell({ phase: 'on', fault: null, cameraId, torch: hasTorch(track) ? 'off' : 'none' });
    if (this.#isTorchWanted) void this.setTorch(true);
    while (attempt === this.#attempt) await this.#readFrame(video, decoder, attempt);
  }

  async #openTrack(video: HTMLVideoElement, attempt: number) {
    this.#chosen ??= this.#options.memory?.recall(REMEMBERED);
    const stream = await openStream(this.#browser.media, this.#chosen ?? null);
    const track = stream.getVideoTracks()[0];
    if (attempt !== this.#attempt || !track) {
      for (const unused of stream.getTracks()) unused.stop();
      return undefined;
    }
    this.#track = track;
    track.addEventListener('ended', () => this.#lost(track));
    track.addEventListener('mute', () => {
      setTimeout(() => track.muted && this.#lost(track), MUTED_MS_MAX);
    });
    // iPhones play only such a video inside the page.
    video.muted = true;
    video.playsInline = true;
    video.srcObject = stream;
    await video.play();
    return track;
  }

  async #readFrame(video: HTMLVideoElement, decoder: Decoder, attempt: number): Promise<void> {
    const from = this.#browser.now();
    if (video.readyState >= HAVE_CURRENT_DATA) {
      const frame = await this.#browser.grab(video).catch(() => {
        throw new CameraProblem('camera_busy');
      });
      const { text, ms } = await decoder.read(frame).catch(() => {
        this.#dropDecoder();
        throw new CameraProblem('decoder_broken');
      });
      if (attempt !== this.#attempt) return;
      this.#options.onFrame?.(ms);
      const at = this.#browser.now();
      if (text !== null && text !== '' && this.once.counts(text, at)) this.#options.onRead(text);
    }
    await nextFrame(video, Math.max(0, FRAME_MS_MIN - (this.#browser.now() - from)));
  }

  #lost(track: MediaStreamTrack): void {
    if (track === this.#track) this.#open();
  }

  #fail(error: unknown): void {
    this.#release();
    const fault = error instanceof CameraProblem ? error.fault : faultOf(error);
    this.#tell({ ...OFF, phase: 'failed', fault });
    if (fault === 'decoder_broken') this.#dropDecoder();
    if (!LASTING.includes(fault)) this.#timer = setTimeout(this.#open, RETRY_MS);
  }

  #release(): void {
    this.#attempt += 1;
    clearTimeout(this.#timer);
    this.#track?.stop();
    this.#track = undefined;
    if (this.#video) this.#video.srcObject = null;
  }

  #dropDecoder(): void {
    this.#decoder?.then(
      (decoder) => decoder.close(),
      () => undefined,
    );
    this.#decoder = undefined;
  }

  #tell(state: CameraState): void {
    this.#state = state;
    this.#options.onChange?.(state);
  }
}

function browserOf(navigator: Navigator, document: Document): CameraBrowser {
  return {
    media: navigator.mediaDevices,
    page: document,
    now: () => performance.now(),
    startDecoder: () => startDecoder(),
    grab,
  };
}

async function grab(video: HTMLVideoElement): Promise<Frame> {
  // A frame costs the page nothing; a bitmap costs it 6 to 10 ms, but every browser has it.
  return 'VideoFrame' in globalThis ? new VideoFrame(video) : createImageBitmap(video);
}

async function nextFrame(video: HTMLVideoElement, msMin: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, msMin));
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, FRAME_MS_MAX);
    video.requestVideoFrameCallback?.(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
