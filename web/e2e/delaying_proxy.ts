import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Lets everything wait a little on its way to the server and back, so that no test can rely on haste. */
export class DelayingProxy {
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(port: number, delayMs: () => number) {
    this.#server = createServer((client) => {
      const server = connect(port, '127.0.0.1');
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#open.add(from);
        from.once('close', () => this.#open.delete(from));
        from.once('error', () => to.destroy());
      }
      void forward(client, server, delayMs);
      void forward(server, client, delayMs);
    });
  }

  /** Before the server at `port`, where E2E_DELAY_MS is set. `number` tells it from others. */
  static async ifWanted(port: number, number: number): Promise<DelayingProxy | undefined> {
    const { E2E_DELAY_MS, E2E_SEED } = process.env;
    if (!E2E_DELAY_MS) return undefined;
    const random = seeded(Number(E2E_SEED) + number);
    const proxy = new DelayingProxy(port, () => random() * Number(E2E_DELAY_MS));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }
}

/** In the order in which it came. */
async function forward(from: Socket, to: Socket, delayMs: () => number): Promise<void> {
  try {
    for await (const bytes of from) {
      await sleep(delayMs());
      to.write(bytes as Buffer);
    }
    to.end();
  } catch {
    to.destroy(); // whoever asked has gone
  }
}

/** mulberry32: the same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
