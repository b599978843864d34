/** The messages between tabs of the app, so that each shows the present state. The disk decides. */
import type { ClockState, LoggedScan } from './model.ts';

export interface News {
  scans?: LoggedScan[];
  clock?: ClockState;
  /** The identity of the device, its station, or its last contact with the server. */
  state?: true;
  manifest?: true;
}

export class Tabs {
  private readonly channel: BroadcastChannel | null;

  constructor(name: string, onNews: (news: News) => void) {
    this.channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(name) : null;
    if (this.channel) {
      this.channel.onmessage = (message: MessageEvent) => onNews(message.data as News);
    }
  }

  tell(news: News): void {
    try {
      this.channel?.postMessage(news);
    } catch {
      // It was closed while something was still on its way.
    }
  }

  close(): void {
    this.channel?.close();
  }
}
