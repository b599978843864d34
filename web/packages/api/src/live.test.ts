import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LiveClient, liveUrl, type LiveSocket, type LiveState } from './live.ts';

/** Of `readyState`. */
const [CONNECTING, OPEN, CLOSING] = [0, 1, 2] as const;

class FakeSocket implements LiveSocket {
  onopen: LiveSocket['onopen'] = null;
  onmessage: LiveSocket['onmessage'] = null;
  onclose: LiveSocket['onclose'] = null;
  onerror: LiveSocket['onerror'] = null;
  readonly sent: unknown[] = [];
  readyState: LiveSocket['readyState'] = CONNECTING;
  closed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.closed = true;
  }

  opens(): void {
    this.readyState = OPEN;
    this.onopen?.call(this as never, new Event('open'));
  }

  drops(): void {
    this.onclose?.call(this as never, new Event('close') as CloseEvent);
  }

  receives(frame: object): void {
    const event = new MessageEvent('message', { data: JSON.stringify(frame) });
    this.onmessage?.call(this as never, event);
  }

  confirms(topic: string, seq: number): void {
    this.receives({ type: 'subscribed', topic, seq });
  }

  says(seq: number, data: object = {}): void {
    this.receives({ type: 'message', topic: 'event:1', seq, data });
  }
}

function aListener() {
  return { onMessage: vi.fn(), onResync: vi.fn(), onRefused: vi.fn() };
}

function aClient() {
  const sockets: FakeSocket[] = [];
  const client = new LiveClient(
    () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    () => 1,
  );
  const states: LiveState[] = [];
  client.onState = (state) => states.push(state);
  const socket = (): FakeSocket => {
    const last = sockets.at(-1);
    if (!last) throw new Error('no connection was opened');
    return last;
  };
  return { client, sockets, states, socket };
}

function aSubscription() {
  const setting = aClient();
  const listener = aListener();
  const leave = setting.client.subscribe('event:1', listener);
  setting.socket().opens();
  setting.socket().confirms('event:1', 7);
  return { ...setting, listener, leave };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('connects for the first listener and asks for its topic', () => {
  const { socket, states, listener } = aSubscription();
  expect(socket().sent).toEqual([{ type: 'subscribe', topic: 'event:1' }]);
  expect(states).toEqual(['connecting', 'connected']);
  expect(listener.onResync).toHaveBeenCalledOnce();
});

test('hands on messages that follow each other', () => {
  const { socket, listener } = aSubscription();
  socket().says(8, { event: 'gate_changed' });
  socket().says(9, { event: 'event_changed' });
  expect(listener.onMessage.mock.calls).toEqual([
    [{ event: 'gate_changed' }, 8],
    [{ event: 'event_changed' }, 9],
  ]);
  expect(listener.onResync).toHaveBeenCalledOnce();
});

test.each([
  ['a gap', 10],
  ['a number that went backwards', 2],
  ['a number seen before', 7],
])('%s means reading again, and counting goes on from there', (_name, seq) => {
  const { socket, listener } = aSubscription();
  socket().says(seq);
  expect(listener.onMessage).not.toHaveBeenCalled();
  expect(listener.onResync).toHaveBeenCalledTimes(2);
  socket().says(seq + 1);
  expect(listener.onMessage).toHaveBeenCalledOnce();
});

test('nothing is said to a connection that is being closed', () => {
  const { client, socket } = aSubscription();
  const leaveOther = client.subscribe('event:2', aListener());
  socket().readyState = CLOSING;
  const said = socket().sent.length;
  client.subscribe('event:3', aListener());
  leaveOther();
  expect(socket().sent.length).toBe(said);
});

test('the server can ask for a re-read', () => {
  const { socket, listener } = aSubscription();
  socket().receives({ type: 'resync', topic: 'event:1', seq: 40 });
  expect(listener.onResync).toHaveBeenCalledTimes(2);
  socket().says(41);
  expect(listener.onMessage).toHaveBeenCalledOnce();
});

test('a refused topic is told with its reason', () => {
  const { socket, listener } = aSubscription();
  const refusal = { error: 'not_found', message: 'There is no such event.' };
  socket().receives({ type: 'refused', topic: 'event:1', ...refusal });
  expect(listener.onRefused.mock.calls[0]?.[0]).toMatchObject({
    code: 'not_found',
    message: 'There is no such event.',
  });
});

test('topics are counted apart, and those nobody asked for are ignored', () => {
  const { client, socket, listener } = aSubscription();
  const other = aListener();
  client.subscribe('event:2', other);
  socket().confirms('event:2', 100);
  socket().confirms('event:3', 1);
  socket().says(8);
  expect(listener.onMessage).toHaveBeenCalledOnce();
  expect(other.onMessage).not.toHaveBeenCalled();
  expect(other.onResync).toHaveBeenCalledOnce();
});

test('two listeners share one subscription, which ends with the last', () => {
  const { client, socket, leave } = aSubscription();
  client.subscribe('event:2', aListener());
  const second = aListener();
  const leaveSecond = client.subscribe('event:1', second);
  leave();
  socket().says(8);
  expect(second.onMessage).toHaveBeenCalledOnce();
  leaveSecond();
  expect(socket().sent).toEqual([
    { type: 'subscribe', topic: 'event:1' },
    { type: 'subscribe', topic: 'event:2' },
    { type: 'unsubscribe', topic: 'event:1' },
  ]);
});

test('hangs up when nobody listens any more, and stays so', () => {
  const { client, sockets, socket, leave } = aSubscription();
  leave();
  expect(socket().closed).toBe(true);
  expect(client.state).toBe('idle');
  socket().drops();
  vi.advanceTimersByTime(60_000);
  expect(sockets).toHaveLength(1);
});

test('after a lost connection it subscribes again and has everything read again', () => {
  const { sockets, socket, states, listener } = aSubscription();
  socket().drops();
  expect(states.at(-1)).toBe('waiting');
  vi.advanceTimersByTime(500);
  expect(sockets).toHaveLength(2);
  socket().opens();
  expect(socket().sent).toEqual([{ type: 'subscribe', topic: 'event:1' }]);
  socket().confirms('event:1', 7);
  expect(listener.onResync).toHaveBeenCalledTimes(2);
});

test('waits longer after each failure, up to thirty seconds', () => {
  const { sockets, socket } = aSubscription();
  for (const delay of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    const before = sockets.length;
    socket().drops();
    vi.advanceTimersByTime(delay - 1);
    expect(sockets).toHaveLength(before);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(before + 1);
  }
});

test('a connection that is dropped before it served anything does not reset the wait', () => {
  const { sockets, socket } = aSubscription();
  socket().drops();
  vi.advanceTimersByTime(500);
  socket().opens();
  socket().drops();
  vi.advanceTimersByTime(500);
  expect(sockets).toHaveLength(2);
  vi.advanceTimersByTime(500);
  expect(sockets).toHaveLength(3);
});

test('can be woken while it waits', () => {
  const { client, sockets, socket } = aSubscription();
  socket().drops();
  client.wake();
  client.wake();
  expect(sockets).toHaveLength(2);
  vi.advanceTimersByTime(60_000);
  expect(sockets).toHaveLength(2);
});

test('a failed connection is closed, which starts the waiting', () => {
  const { socket } = aSubscription();
  socket().onerror?.call(socket() as never, new Event('error'));
  expect(socket().closed).toBe(true);
});

test('a minute without a word is a dead connection: it is closed and made anew', () => {
  const { sockets, socket, states } = aSubscription();
  const dead = socket();
  vi.advanceTimersByTime(59_999);
  expect(dead.closed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(dead.closed).toBe(true);
  expect(states.at(-1)).toBe('waiting');
  vi.advanceTimersByTime(500);
  expect(sockets).toHaveLength(2);
  dead.drops();
  dead.confirms('event:1', 7);
  vi.advanceTimersByTime(30_000);
  expect(sockets).toHaveLength(2);
});

test('a connection that never stands is given up too', () => {
  const { client, sockets } = aClient();
  client.subscribe('event:1', aListener());
  vi.advanceTimersByTime(60_500);
  expect(sockets.map((socket) => socket.closed)).toEqual([true, false]);
});

test('a server that says no more than that it is alive is left alone', () => {
  const { sockets, socket, listener } = aSubscription();
  for (let minute = 0; minute < 5; minute += 1) {
    vi.advanceTimersByTime(59_999);
    socket().receives({ type: 'alive' });
  }
  expect(sockets).toHaveLength(1);
  expect(socket().closed).toBe(false);
  expect(listener.onResync).toHaveBeenCalledOnce();
});

test('while it waits and after the end, nobody is expected to speak', () => {
  const { sockets, socket, states, leave } = aSubscription();
  vi.advanceTimersByTime(59_900);
  socket().drops();
  vi.advanceTimersByTime(500);
  socket().drops();
  vi.advanceTimersByTime(1_000);
  expect(sockets).toHaveLength(3);
  leave();
  const before = states.length;
  vi.advanceTimersByTime(120_000);
  expect(states).toHaveLength(before);
});

test('lives beside the page, encrypted when the page is', () => {
  expect(liveUrl({ protocol: 'http:', host: 'a:1' })).toBe('ws://a:1/api/live');
  expect(liveUrl({ protocol: 'https:', host: 'a' })).toBe('wss://a/api/live');
});
