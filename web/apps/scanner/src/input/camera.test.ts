import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Camera, type CameraOptions, type CameraState } from './camera.ts';
import { DecoderBroken, type Decoder } from './decoder.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class Track extends EventTarget {
  readyState = 'live';
  muted = false;
  isLit = false;
  constructor(
    readonly id: string,
    readonly torch: boolean,
  ) {
    super();
  }
  stop() {
    this.readyState = 'ended';
  }
  getSettings() {
    return { deviceId: this.id };
  }
  getCapabilities() {
    return { torch: this.torch };
  }
  async applyConstraints({ advanced: [{ torch }] }: { advanced: [{ torch: boolean }] }) {
    this.isLit = torch;
  }
}

class Media extends EventTarget {
  readonly tracks: Track[] = [];
  readonly asked: MediaStreamConstraints[] = [];
  fault: string | undefined;
  hasTorch = false;
  devices = ['front', 'back'];

  async enumerateDevices() {
    const cameras = this.devices.map((id) => ({ kind: 'videoinput', deviceId: id, label: id }));
    return [{ kind: 'audioinput', deviceId: 'mic', label: 'mic' }, ...cameras];
  }

  async getUserMedia(constraints: MediaStreamConstraints) {
    this.asked.push(constraints);
    if (this.fault) throw new DOMException('', this.fault);
    const { deviceId } = constraints.video as { deviceId?: { exact: string } };
    const id = deviceId?.exact ?? 'back';
    if (!this.devices.includes(id)) throw new DOMException('', 'OverconstrainedError');
    const track = new Track(id, this.hasTorch);
    this.tracks.push(track);
    return { getTracks: () => [track], getVideoTracks: () => [track] };
  }

  get live(): Track[] {
    return this.tracks.filter((track) => track.readyState === 'live');
  }
}

class Page extends EventTarget {
  visibilityState = 'visible';
  show(state: 'visible' | 'hidden') {
    this.visibilityState = state;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

function setUp(more: Partial<CameraOptions> = {}) {
  const media = new Media();
  const page = new Page();
  const video = { readyState: 4, play: async () => undefined } as never;
  const view: { text: string | null; breaks: boolean } = { text: null, breaks: false };
  const reads: string[] = [];
  const states: CameraState[] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  const decoder: Decoder = {
    async read() {
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      await new Promise((resolve) => setTimeout(resolve, 10));
      inFlight -= 1;
      if (view.breaks) throw new DecoderBroken();
      return { text: view.text, ms: 10 };
    },
    close: vi.fn(),
  };
  const startDecoder = vi.fn(async () => decoder);
  const grab = vi.fn(async () => ({}));
  const browser = {
    media,
    page,
    now: () => Date.now(),
    startDecoder,
    grab,
  } as never;
  const options = { onRead: (text: string) => reads.push(text), browser, ...more };
  const camera = new Camera({ ...options, onChange: (state) => states.push(state) });
  const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const most = () => mostInFlight;
  return {
    camera,
    media,
    page,
    video,
    view,
    reads,
    states,
    startDecoder,
    decoder,
    grab,
    after,
    most,
  };
}

test('a code in view is read once, and again when it comes back', async () => {
  const { camera, video, view, reads, after, most } = setUp();
  camera.start(video);
  await after(500);
  expect(camera.state.phase).toBe('on');
  view.text = 'VG1A';
  await after(5_000);
  view.text = null;
  await after(2_000);
  view.text = 'VG1A';
  await after(1_000);
  expect(reads).toEqual(['VG1A', 'VG1A']);
  expect(most()).toBe(1);
});

test('the camera that looks away is used, unless another was chosen and remembered', async () => {
  const kept = new Map<string, string>();
  const memory = {
    recall: (key: string) => kept.get(key),
    keep: (key: string, value: string) => void kept.set(key, value),
  };
  const { camera, media, video, after } = setUp({ memory });
  camera.start(video);
  await after(100);
  expect(media.asked[0]?.video).toMatchObject({ facingMode: 'environment' });
  expect(await camera.cameras()).toEqual([
    { id: 'front', label: 'front' },
    { id: 'back', label: 'back' },
  ]);
  camera.choose('front');
  await after(100);
  expect(camera.state.cameraId).toBe('front');
  expect(media.live).toHaveLength(1);

  const next = setUp({ memory });
  next.camera.start(next.video);
  await next.after(100);
  expect(next.camera.state.cameraId).toBe('front');
});

test('a remembered camera that is gone is replaced by any other', async () => {
  const memory = { recall: () => 'unplugged', keep: () => undefined };
  const { camera, video, after } = setUp({ memory });
  camera.start(video);
  await after(100);
  expect(camera.state).toMatchObject({ phase: 'on', cameraId: 'back' });
});

test.each([
  ['NotAllowedError', 'camera_denied'],
  ['NotFoundError', 'camera_missing'],
  ['NotReadableError', 'camera_busy'],
  ['TypeError', 'camera_unsupported'],
])('%s is told as %s', async (name, fault) => {
  const { camera, media, video, after } = setUp();
  media.fault = name;
  camera.start(video);
  await after(100);
  expect(camera.state).toMatchObject({ phase: 'failed', fault });
});

test('a busy camera is tried again until it is free, a forbidden one is not', async () => {
  const { camera, media, video, after } = setUp();
  media.fault = 'NotReadableError';
  camera.start(video);
  await after(10_000);
  expect(media.asked.length).toBeGreaterThan(3);
  media.fault = undefined;
  await after(3_000);
  expect(camera.state).toMatchObject({ phase: 'on', fault: null });

  const other = setUp();
  other.media.fault = 'NotAllowedError';
  other.camera.start(other.video);
  await other.after(10_000);
  expect(other.media.asked).toHaveLength(1);
});

test('a camera that is plugged in is found at once', async () => {
  const { camera, media, video, after } = setUp();
  media.fault = 'NotFoundError';
  camera.start(video);
  await after(100);
  media.fault = undefined;
  media.dispatchEvent(new Event('devicechange'));
  await after(100);
  expect(camera.state.phase).toBe('on');
});

test('without a secure page there is no camera at all', async () => {
  const page = new Page();
  const { decoder } = setUp();
  const camera = new Camera({
    onRead: () => undefined,
    browser: { media: undefined, page, now: Date.now, startDecoder: async () => decoder } as never,
  });
  camera.start({} as never);
  await vi.advanceTimersByTimeAsync(100);
  expect(camera.state.fault).toBe('camera_unsupported');
});

test('a hidden page lets the camera go and takes it again when it is seen', async () => {
  const { camera, media, page, video, view, reads, after } = setUp();
  camera.start(video);
  await after(100);
  page.show('hidden');
  expect(media.live).toHaveLength(0);
  view.text = 'VG1A';
  await after(5_000);
  expect(reads).toEqual([]);
  page.show('visible');
  await after(500);
  expect(media.live).toHaveLength(1);
  expect(reads).toEqual(['VG1A']);
});

test('a camera that ends, or stays dark, is opened again', async () => {
  const { camera, media, video, after } = setUp();
  camera.start(video);
  await after(100);
  media.tracks[0]?.dispatchEvent(new Event('ended'));
  await after(100);
  expect(camera.state.phase).toBe('on');
  expect(media.tracks).toHaveLength(2);

  const [, dark] = media.tracks;
  if (dark) dark.muted = true;
  dark?.dispatchEvent(new Event('mute'));
  await after(5_000);
  expect(media.tracks).toHaveLength(3);
  expect(media.live).toHaveLength(1);
});

test('stopped while the person is asked for permission, it holds no camera', async () => {
  const { camera, media, video, view, reads, after } = setUp();
  view.text = 'VG1A';
  camera.start(video);
  camera.stop();
  await after(5_000);
  expect(media.live).toHaveLength(0);
  expect(reads).toEqual([]);
  expect(camera.state.phase).toBe('off');
});

test('the torch is offered and lit where there is one, and stays lit after a restart', async () => {
  const { camera, media, page, video, after } = setUp();
  camera.start(video);
  await after(100);
  expect(camera.state.torch).toBe('none');
  await camera.setTorch(true);
  expect(camera.state.torch).toBe('none');

  media.hasTorch = true;
  page.show('visible');
  await after(100);
  expect(camera.state.torch).toBe('on');
  expect(media.live[0]?.isLit).toBe(true);
  await camera.setTorch(false);
  expect(media.live[0]?.isLit).toBe(false);
  expect(camera.state.torch).toBe('off');
});

test('a decoder that dies is replaced', async () => {
  const { camera, video, view, reads, states, startDecoder, decoder, after } = setUp();
  camera.start(video);
  await after(100);
  view.breaks = true;
  await after(500);
  expect(states.at(-1)?.fault).toBe('decoder_broken');
  view.breaks = false;
  view.text = 'VG1A';
  await after(3_000);
  expect(reads).toEqual(['VG1A']);
  expect(startDecoder).toHaveBeenCalledTimes(2);
  expect(decoder.close).toHaveBeenCalledOnce();
});

test('a picture that cannot be read is reported, and tried again', async () => {
  const { camera, video, view, reads, grab, after } = setUp();
  camera.start(video);
  await after(100);
  grab.mockRejectedValueOnce(new DOMException('', 'InvalidStateError'));
  await after(500);
  expect(camera.state.fault).toBe('camera_busy');
  view.text = 'VG1A';
  await after(3_000);
  expect(reads).toEqual(['VG1A']);
});
