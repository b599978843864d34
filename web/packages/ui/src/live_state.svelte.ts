import type { LiveClient, LiveState as State } from '@voelgoed/api';

/** The state of the live connection, for pages to show. */
export class LiveState {
  current = $state<State>('idle');
  readonly client: LiveClient;

  constructor(client: LiveClient) {
    this.client = client;
    client.onState = (state) => (this.current = state);
  }
}
