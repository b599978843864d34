import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freshFetch } from './fresh_fetch.ts';

const SECRET = 'a secret of sixteen or more'.replaceAll(' ', '-');

/** A payment page of somebody else, as docs/payments.md has it: it takes no money, and tells so signed. */
export class PayPage {
  readonly secret = SECRET;
  /** What the server said to each notice. */
  readonly outcomes: string[] = [];
  readonly #server: Server;

  private constructor(
    private readonly shopUrl: string,
    private readonly organizationId: string,
  ) {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async open(shopUrl: string, organizationId: string): Promise<PayPage> {
    const page = new PayPage(shopUrl, organizationId);
    await new Promise<void>((resolve) => page.#server.listen(0, '127.0.0.1', resolve));
    return page;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/checkout`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search, searchParams: asked } = new URL(request.url ?? '', this.url);
    if (pathname !== '/checkout') return void response.writeHead(204).end();
    const [signed = '', signature] = search.slice(1).split('&signature=');
    if (this.#sign(signed) !== signature) return void response.writeHead(403).end('not from us');
    if (request.method === 'POST') {
      this.outcomes.push(await this.#notify(asked));
      response.writeHead(303, { Location: asked.get('return_url') ?? this.shopUrl }).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(
      `<!doctype html><html lang="en"><title>Pay</title><link rel="icon" href="data:,">
      <h1>Pay for ${asked.get('order')}</h1>
      <form method="post"><button>Pay ${asked.get('amount_minor')}</button></form>`,
    );
  }

  async #notify(asked: URLSearchParams): Promise<string> {
    const body = JSON.stringify({
      delivery_id: crypto.randomUUID(),
      payment_id: asked.get('payment_id'),
      status: 'succeeded',
      amount_minor: Number(asked.get('amount_minor')),
      currency: asked.get('currency'),
      reference: 'PAY-1',
    });
    const at = Math.floor(Date.now() / 1_000);
    const path = `${this.shopUrl}/api/payment-notices/paylink/${this.organizationId}`;
    const answer = await freshFetch(path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Signature': `t=${at},v1=${this.#sign(`${at}.${body}`)}`,
      },
      body,
    });
    if (!answer.ok) return `${answer.status} ${await answer.text()}`;
    return ((await answer.json()) as { data: { outcome: string } }).data.outcome;
  }

  #sign(text: string): string {
    return createHmac('sha256', this.secret).update(text).digest('hex');
  }
}
