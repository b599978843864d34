import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Demo } from './demo.ts';
import { freshFetch } from './fresh_fetch.ts';

const START_MS_MAX = 240_000;
const STOP_MS_MAX = 60_000;
const LOOK_MS = 100;

/** A server of a test's own, with a database of its own, to be killed and started again. */
export class OwnServer {
  readonly url: string;
  readonly #data = mkdtempSync(join(tmpdir(), 'voelgoed-own-'));
  #process: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    readonly settings: Record<string, string>,
  ) {
    this.url = `http://127.0.0.1:${port}`;
  }

  /** `settings` are those of the environment, with their prefix. */
  static async start(settings: Record<string, string> = {}): Promise<OwnServer> {
    const server = new OwnServer(await freePort(), settings);
    await server.start();
    return server;
  }

  /** What it wrote about its demo organisation. */
  get demo(): Pick<Demo, 'organization_slug' | 'users' | 'bank_secret'> {
    return JSON.parse(readFileSync(join(this.#data, 'demo.json'), 'utf8'));
  }

  async start(): Promise<void> {
    const { E2E_PORT, E2E_DATA, ...environment } = process.env;
    this.#process = spawn('../.venv/bin/voelgoed', ['up', '--port', String(this.port)], {
      env: {
        ...environment,
        ...this.settings,
        VOELGOED_DATA: this.#data,
        VOELGOED_PUBLIC_URL: this.url,
      },
      stdio: 'ignore',
    });
    const began = Date.now();
    while (!(await this.#isReady())) {
      if (Date.now() - began > START_MS_MAX) throw new Error('the server does not start');
      await sleep(LOOK_MS);
    }
  }

  async #isReady(): Promise<boolean> {
    return freshFetch(`${this.url}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  }

  /** In the middle of whatever it does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async close(): Promise<void> {
    if (this.#process === undefined) await this.start(); // to end the database that outlived it
    await this.#end('SIGINT');
    rmSync(this.#data, { recursive: true, force: true, maxRetries: 10 });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const ended = this.#process;
    if (ended === undefined) return;
    this.#process = undefined;
    const gone = new Promise((resolve) => ended.once('exit', resolve));
    ended.kill(signal);
    await Promise.race([gone, sleep(STOP_MS_MAX, undefined, { ref: false })]);
    ended.kill('SIGKILL');
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
