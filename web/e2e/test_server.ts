import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayingProxy } from './delaying_proxy.ts';
import type { Demo } from './demo.ts';
import { freshFetch } from './fresh_fetch.ts';
import { Operator } from './operator.ts';
import { Organization } from './organization.ts';

const START_MS_MAX = 240_000;
const STOP_MS_MAX = 60_000;
const LOOK_MS = 100;
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 2 * 1024 ** 3;

/** A server with a database of its own, for the tests of one worker. */
export class TestServer {
  /** Pages reach the server here. */
  readonly url: string;
  readonly #directory = mkdtempSync(join(fastDirectory(), 'voelgoed-e2e-'));
  readonly #data = join(this.#directory, 'data');
  readonly #log = join(this.#directory, 'server.log');
  readonly #operator = new Operator({ VOELGOED_DATA: this.#data });
  #process: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    readonly proxy: DelayingProxy | undefined,
  ) {
    this.url = `http://127.0.0.1:${proxy?.port ?? port}`;
  }

  /** Requests are delayed where E2E_DELAY_MS is set; `number` tells this server from others. */
  static async start(number: number): Promise<TestServer> {
    const port = await freePort();
    const server = new TestServer(port, await DelayingProxy.ifWanted(port, number));
    await server.start();
    return server;
  }

  /** What the server wrote about its demo organisation when it started. */
  get demo(): Demo {
    return JSON.parse(readFileSync(join(this.#data, 'demo.json'), 'utf8')) as Demo;
  }

  async start(): Promise<void> {
    const log = openSync(this.#log, 'a');
    const given = ['-m', 'tests.browser_server', 'up', '--port', String(this.port)];
    const running = spawn('.venv/bin/python', given, {
      cwd: '..',
      env: {
        ...process.env,
        VOELGOED_DATA: this.#data,
        VOELGOED_PUBLIC_URL: this.url,
        // A device that tests many things in a minute sends more batches than a real one.
        VOELGOED_SYNC_BATCHES_PER_MINUTE_MAX: '1000',
      },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#process = running;
    const began = Date.now();
    while (!(await this.#isReady())) {
      const isLate = Date.now() - began > START_MS_MAX;
      if (isLate || running.exitCode !== null) {
        throw new Error(`the server does not start: ${readFileSync(this.#log, 'utf8')}`);
      }
      await sleep(LOOK_MS);
    }
  }

  async #isReady(): Promise<boolean> {
    return freshFetch(`http://127.0.0.1:${this.port}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  }

  /** Runs a command of `voelgoed`; gives its output. */
  command(...given: string[]): Promise<string> {
    return this.#operator.command(given);
  }

  get demoOrganization(): Organization {
    const { organization_slug, users } = this.demo;
    return new Organization(this.url, organization_slug, users.owner);
  }

  /** A tenant beside the demo, made as an operator makes one. */
  async createOrganization(name: string): Promise<Organization> {
    const slug = `o-${crypto.randomUUID()}`;
    const owner = { email: 'owner@example.com', password: crypto.randomUUID() };
    const given = ['organization', 'create', slug, name, owner.email];
    await this.#operator.command(given, `${owner.password}\n`);
    return new Organization(this.url, slug, owner);
  }

  /** As if so much time had passed for what is held at an event, and for its ticket list. */
  async passTime(organization: Organization, eventId: string, seconds: number): Promise<void> {
    const asked = { pass_seconds: seconds, organization: organization.slug, event: eventId };
    await this.#operator.ask(asked);
  }

  /** In the middle of whatever it does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async close(): Promise<void> {
    this.#operator.close();
    if (this.#process === undefined) await this.start(); // to end the database that outlived it
    await this.#end('SIGINT');
    this.proxy?.close();
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 10 });
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

/** In memory where there is enough of it: nobody needs what a test wrote after it. */
function fastDirectory(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY : tmpdir();
}

/**
 * Below the ports that the kernel gives to whoever connects: one of those may belong to a connection
 * by the time that the server starts, or starts again.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isBound = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (isBound) await new Promise((resolve) => server.close(resolve));
  return isBound;
}
