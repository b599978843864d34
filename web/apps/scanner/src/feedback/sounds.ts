export type Sound = 'entry' | 'reentry' | 'exit' | 'attention' | 'refusal';

interface Note {
  hertz: number;
  atMs: number;
  ms: number;
  wave: OscillatorType;
}

/** Told apart by how they move as well as by how they sound: a small speaker has no low tones. */
const SCORES: Readonly<Record<Sound, readonly Note[]>> = {
  // Two steps up.
  entry: [
    { hertz: 880, atMs: 0, ms: 90, wave: 'triangle' },
    { hertz: 1_320, atMs: 90, ms: 160, wave: 'triangle' },
  ],
  // Up, and up again.
  reentry: [
    { hertz: 880, atMs: 0, ms: 70, wave: 'triangle' },
    { hertz: 1_320, atMs: 70, ms: 70, wave: 'triangle' },
    { hertz: 880, atMs: 200, ms: 70, wave: 'triangle' },
    { hertz: 1_320, atMs: 270, ms: 140, wave: 'triangle' },
  ],
  // Two steps down, softly.
  exit: [
    { hertz: 988, atMs: 0, ms: 120, wave: 'sine' },
    { hertz: 659, atMs: 120, ms: 200, wave: 'sine' },
  ],
  // One tone, twice.
  attention: [
    { hertz: 740, atMs: 0, ms: 110, wave: 'square' },
    { hertz: 740, atMs: 190, ms: 110, wave: 'square' },
  ],
  // Long and rough.
  refusal: [
    { hertz: 233, atMs: 0, ms: 240, wave: 'sawtooth' },
    { hertz: 220, atMs: 290, ms: 420, wave: 'sawtooth' },
  ],
};

export const VOLUME_DEFAULT = 0.8;
const TEST_GAP_MS = 900;
const RAMP_SECONDS = 0.008;
const SILENCE = 0.0001;
const TOUCHES = ['pointerdown', 'keydown'] as const;

/** Made on the spot: nothing to download, and the same on every device. */
export class Sounds {
  readonly #makeContext: () => AudioContext;
  #context: AudioContext | undefined;
  #playing: OscillatorNode[] = [];
  #volume = VOLUME_DEFAULT;
  #isTouched = false;

  constructor(makeContext: () => AudioContext = () => new AudioContext()) {
    this.#makeContext = makeContext;
  }

  /** 0 is silent, 1 the loudest. */
  get volume(): number {
    return this.#volume;
  }

  set volume(volume: number) {
    this.#volume = Math.min(1, Math.max(0, volume));
  }

  /** Whether a sound would be heard now; before the first touch browsers play none. */
  get isReady(): boolean {
    return this.#context?.state === 'running';
  }

  /** Every touch, because a phone call silences the sounds until the next one. */
  unlockBy(target: EventTarget): () => void {
    // Not with the first touch: it takes a fifth of a second, in which a scanner's next key is late.
    setTimeout(() => this.#made());
    const unlock = () => void this.unlock();
    for (const touch of TOUCHES) target.addEventListener(touch, unlock, { capture: true });
    return () => {
      for (const touch of TOUCHES) target.removeEventListener(touch, unlock, { capture: true });
    };
  }

  async unlock(): Promise<boolean> {
    this.#isTouched = true;
    const context = this.#made();
    try {
      if (context?.state !== 'running') await context?.resume();
    } catch {
      // It may be allowed with the next touch.
    }
    return this.isReady;
  }

  play(sound: Sound): void {
    const context = this.#context;
    if (!context || this.#volume === 0) return;
    if (context.state !== 'running') {
      // It would come late, with somebody else's ticket. Browsers complain of who asks too soon.
      if (this.#isTouched) void this.unlock();
      return;
    }
    this.#hush();
    this.#playing = SCORES[sound].map((note) => this.#start(context, note, 0));
  }

  /** All of them in turn, at the present volume; false where none can be heard. */
  async test(): Promise<boolean> {
    const context = (await this.unlock()) ? this.#context : undefined;
    if (!context || this.#volume === 0) return false;
    this.#hush();
    this.#playing = Object.values(SCORES).flatMap((score, place) =>
      score.map((note) => this.#start(context, note, place * TEST_GAP_MS)),
    );
    return true;
  }

  #made(): AudioContext | undefined {
    try {
      this.#context ??= this.#makeContext();
    } catch {
      // A device without sound still has colours and words.
    }
    return this.#context;
  }

  #hush(): void {
    for (const oscillator of this.#playing) oscillator.stop();
    this.#playing = [];
  }

  #start(context: AudioContext, note: Note, laterMs: number): OscillatorNode {
    const from = context.currentTime + (laterMs + note.atMs) / 1_000;
    const to = from + note.ms / 1_000;
    const oscillator = new OscillatorNode(context, { type: note.wave, frequency: note.hertz });
    const gain = new GainNode(context, { gain: SILENCE });
    // Ramps, because a tone that starts or ends at once clicks.
    gain.gain.setValueAtTime(SILENCE, from);
    gain.gain.exponentialRampToValueAtTime(this.#volume, from + RAMP_SECONDS);
    gain.gain.setValueAtTime(this.#volume, to - RAMP_SECONDS);
    gain.gain.exponentialRampToValueAtTime(SILENCE, to);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start(from);
    oscillator.stop(to);
    return oscillator;
  }
}
