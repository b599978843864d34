import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext } from '@playwright/test';
import type { Entry, Manifest } from '@voelgoed/rules';
import { freshFetch } from './fresh_fetch.ts';

const TAIL = ',"offset_seconds":';

/**
 * Whoever asks for the manifest gets it with so many tickets, signed for them as the server does:
 * to import as many would take minutes.
 */
export class LargeManifest {
  private constructor(
    private readonly server: Server,
    private readonly origin: string,
  ) {}

  static async of(tickets: number, origin: string): Promise<LargeManifest> {
    const server = createServer((request, response) => {
      const key = (request.headers.authorization ?? '').replace('Bearer ', '');
      void grown(`${origin}${request.url}`, key, tickets).then(
        (body) => {
          response.setHeader('Content-Type', 'application/json');
          response.end(body);
        },
        // The device asks again, as it does of any server that is away for a moment.
        () => response.destroy(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new LargeManifest(server, origin);
  }

  async serveTo(context: BrowserContext): Promise<void> {
    const { port } = this.server.address() as AddressInfo;
    await context.route('**/manifest?*', (route) =>
      route.continue({
        url: route.request().url().replace(this.origin, `http://127.0.0.1:${port}`),
      }),
    );
  }

  close(): void {
    this.server.close();
  }
}

async function grown(address: string, key: string, tickets: number): Promise<Buffer> {
  const answer = await freshFetch(address, { headers: { Authorization: `Bearer ${key}` } });
  const body = await answer.text();
  const at = body.lastIndexOf(TAIL);
  const manifest = JSON.parse(`${body.slice(0, at)}}`) as Manifest;
  const { tickets: known } = manifest;
  const more = Array.from({ length: tickets - known.length }, (_, place) =>
    alike(known[place % known.length] as Entry),
  );
  const all = [...known, ...more].sort((one, other) => (one.ticket_id < other.ticket_id ? -1 : 1));
  const document = JSON.stringify({ ...manifest, tickets: all });
  const signature = createHmac('sha256', key).update(document).digest('hex');
  const tail = { ...JSON.parse(`{${body.slice(at + 1)}`), signature: `HMAC-SHA256=${signature}` };
  return Buffer.from(`${document.slice(0, -1)},${JSON.stringify(tail).slice(1)}`);
}

/** Another ticket, of which nobody has the barcode. */
function alike(entry: Entry): Entry {
  return {
    ...entry,
    ticket_id: randomUUID(),
    barcode_hash: `sha256:${randomBytes(32).toString('hex')}`,
    code_hash: randomBytes(16).toString('hex'),
  };
}
