import { Camera, type CameraChoice, type CameraState as State } from './input/camera.ts';
import type { Memory } from '@voelgoed/ui';

/** The camera as pages see it. Whoever shows it says what becomes of what it reads. */
export class CameraState {
  current = $state.raw<State>({ phase: 'off', fault: null, cameraId: null, torch: 'none' });
  choices = $state.raw<CameraChoice[]>([]);

  readonly #camera: Camera;
  #onRead: (text: string) => void = () => undefined;

  constructor(memory: Memory) {
    this.#camera = new Camera({
      onRead: (text) => this.#onRead(text),
      onChange: (state) => this.#changed(state),
      memory,
    });
  }

  /** Until the returned function is called. */
  show(video: HTMLVideoElement, onRead: (text: string) => void): () => void {
    this.#onRead = onRead;
    this.#camera.start(video);
    return () => this.#camera.stop();
  }

  choose(id: string): void {
    this.#camera.choose(id);
  }

  chooseNext(): void {
    const at = this.choices.findIndex(({ id }) => id === this.current.cameraId);
    const next = this.choices[(at + 1) % this.choices.length];
    if (next) this.choose(next.id);
  }

  switchTorch(): void {
    void this.#camera.setTorch(this.current.torch === 'off');
  }

  async readChoices(): Promise<void> {
    this.choices = await this.#camera.cameras().catch(() => []);
  }

  close(): void {
    this.#camera.close();
  }

  #changed(state: State): void {
    const isNew = state.phase === 'on' && state.cameraId !== this.current.cameraId;
    this.current = state;
    if (isNew) void this.readChoices();
  }
}
