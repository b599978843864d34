import type { Frame } from './frame.ts';

/** Longer than the slowest device needs for one frame, and for the decoder to be loaded. */
const READ_MS_MAX = 5_000;
const LOAD_MS_MAX = 30_000;

export type DecodeAnswer =
  { kind: 'ready' } | { kind: 'broken' } | { kind: 'read'; text: string | null; ms: number };

export interface Read {
  text: string | null;
  /** What decoding took, without the way to the worker and back. */
  ms: number;
}

export interface Decoder {
  /** Frames are given one after the other: the next one when the last is read. */
  read(frame: Frame): Promise<Read>;
  close(): void;
}

export class DecoderBroken extends Error {}

type Talking = Pick<
  Worker,
  'postMessage' | 'terminate' | 'addEventListener' | 'removeEventListener'
>;

/** Resolves when the decoder is loaded. */
export async function startDecoder(makeWorker: () => Talking = decodeWorker): Promise<Decoder> {
  const worker = makeWorker();
  try {
    await nextAnswer(worker, 'ready', LOAD_MS_MAX);
  } catch (error) {
    worker.terminate();
    throw error;
  }
  return {
    async read(frame) {
      const answered = nextAnswer(worker, 'read', READ_MS_MAX);
      worker.postMessage(frame, [frame]);
      const { text, ms } = await answered;
      return { text, ms };
    },
    close: () => worker.terminate(),
  };
}

function decodeWorker(): Worker {
  return new Worker(new URL('./decode.worker.ts', import.meta.url), { type: 'module' });
}

function nextAnswer<K extends DecodeAnswer['kind']>(
  worker: Talking,
  kind: K,
  msMax: number,
): Promise<Extract<DecodeAnswer, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const { signal } = done;
    const fail = () => {
      done.abort();
      reject(new DecoderBroken());
    };
    const timer = setTimeout(fail, msMax);
    signal.addEventListener('abort', () => clearTimeout(timer));
    worker.addEventListener('error', fail, { signal });
    worker.addEventListener(
      'message',
      ({ data }: MessageEvent<DecodeAnswer>) => {
        if (data.kind !== kind) return fail();
        done.abort();
        resolve(data as Extract<DecodeAnswer, { kind: K }>);
      },
      { signal },
    );
  });
}
