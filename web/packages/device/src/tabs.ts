/** What tabs of the same app tell each other, so that each shows what is. What is on disk decides. */
import type { ClockState, LoggedScan } from './model.ts';

export interface News {
  scans?: LoggedScan[];
  clock?: ClockState;
  /** Who the device is, where it stands, or when it last reached the server. */
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
