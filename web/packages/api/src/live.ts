import { retryDelayMs } from './backoff.ts';
import { ApiError } from './error.ts';
import { parseFrame, type Frame } from './live_frame.ts';

/** A living server is heard every 25 s; a dead network can be silent for hours. */
const SILENCE_MS_MAX = 60_000;
/** Of `readyState`. */
const OPEN = 1;

/** What the live client needs of a WebSocket; tests pass in their own. */
export type LiveSocket = Pick<
  WebSocket,
  'readyState' | 'send' | 'close' | 'onopen' | 'onmessage' | 'onclose' | 'onerror'
>;

export type LiveState = 'idle' | 'connecting' | 'connected' | 'waiting';

export interface LiveListener {
  /** A change with its number, in order and without a gap since the last `onResync`. */
  onMessage: (data: Record<string, unknown>, seq: number) => void;
  /** Something may have been missed: read the whole thing again, as it was at this number or later. */
  onResync: (seq: number) => void;
  onRefused?: (error: ApiError) => void;
}

interface Topic {
  /** Undefined until the server has confirmed the subscription on this connection. */
  seq: number | undefined;
  listeners: Set<LiveListener>;
}

/** Numbered hints from the server. Connected while anybody listens, and only then. */
export class LiveClient {
  readonly #connect: () => LiveSocket;
  readonly #random: () => number;
  readonly #topics = new Map<string, Topic>();
  #socket: LiveSocket | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #state: LiveState = 'idle';

  onState: (state: LiveState) => void = () => undefined;

  constructor(connect: () => LiveSocket, random: () => number = Math.random) {
    this.#connect = connect;
    this.#random = random;
  }

  get state(): LiveState {
    return this.#state;
  }

  /** Returns the function that ends the subscription. */
  subscribe(topic: string, listener: LiveListener): () => void {
    const known = this.#topics.get(topic);
    if (known) known.listeners.add(listener);
    else this.#topics.set(topic, { seq: undefined, listeners: new Set([listener]) });
    if (this.#state === 'idle') this.#open();
    else if (!known) this.#send('subscribe', topic);
    return () => this.#leave(topic, listener);
  }

  /** Try now instead of when the waiting time is over: the network came back. */
  wake(): void {
    if (this.#state === 'waiting') this.#open();
  }

  #leave(name: string, listener: LiveListener): void {
    const topic = this.#topics.get(name);
    if (!topic?.listeners.delete(listener) || topic.listeners.size > 0) return;
    this.#topics.delete(name);
    if (this.#topics.size > 0) this.#send('unsubscribe', name);
    else this.#stop();
  }

  #open(): void {
    clearTimeout(this.#retry);
    this.#setState('connecting');
    const socket = this.#connect();
    this.#socket = socket;
    this.#heard();
    socket.onopen = () => {
      this.#setState('connected');
      for (const topic of this.#topics.keys()) this.#send('subscribe', topic);
    };
    socket.onmessage = (event) => {
      this.#heard();
      this.#receive(parseFrame(event.data));
    };
    socket.onclose = () => this.#lost();
    socket.onerror = () => socket.close();
  }

  #heard(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      // Closing asks the other side first, which is not there: do not wait for the answer.
      this.#hangUp();
      this.#lost();
    }, SILENCE_MS_MAX);
  }

  #lost(): void {
    clearTimeout(this.#silence);
    for (const topic of this.#topics.values()) topic.seq = undefined;
    this.#setState('waiting');
    this.#retry = setTimeout(() => this.#open(), retryDelayMs(this.#attempt, this.#random));
    this.#attempt += 1;
  }

  #stop(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#hangUp();
    this.#attempt = 0;
    this.#setState('idle');
  }

  #hangUp(): void {
    const socket = this.#socket;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    socket.close();
    this.#socket = undefined;
  }

  #receive(frame: Frame | undefined): void {
    const topic = frame && this.#topics.get(frame.topic);
    if (!topic) return;
    switch (frame.type) {
      case 'subscribed':
        // Only now: a server that accepts and hangs up at once must not be stormed.
        this.#attempt = 0;
        // What changed between the page's own read and this moment was sent to nobody.
        return this.#resync(topic, frame.seq);
      case 'resync':
        return this.#resync(topic, frame.seq);
      case 'message':
        if (topic.seq === undefined || frame.seq !== topic.seq + 1) {
          return this.#resync(topic, frame.seq);
        }
        topic.seq = frame.seq;
        for (const listener of [...topic.listeners]) listener.onMessage(frame.data, frame.seq);
        return;
      case 'refused': {
        const error = new ApiError(frame.error, frame.message);
        for (const listener of [...topic.listeners]) listener.onRefused?.(error);
      }
    }
  }

  #resync(topic: Topic, seq: number): void {
    topic.seq = seq;
    for (const listener of [...topic.listeners]) listener.onResync(seq);
  }

  #send(type: 'subscribe' | 'unsubscribe', topic: string): void {
    // Before the connection stands nothing is lost: `onopen` subscribes to every topic. One that is
    // being closed is still connected as far as anybody has said, and takes nothing any more.
    if (this.#state !== 'connected' || this.#socket?.readyState !== OPEN) return;
    this.#socket.send(JSON.stringify({ type, topic }));
  }

  #setState(state: LiveState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.onState(state);
  }
}

/** The live address of the server that served this page. */
export function liveUrl(page: { protocol: string; host: string }): string {
  return `${page.protocol === 'https:' ? 'wss' : 'ws'}://${page.host}/api/live`;
}
