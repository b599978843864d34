type Browser = Pick<Window, 'location' | 'history' | 'addEventListener' | 'removeEventListener'>;

/** The page named by the part of the address after the #, such as `/events/123?with=decided`. */
export class HashRoute {
  path = $state('/');
  /** What of the page is shown, after the question mark. */
  query = $state.raw(new URLSearchParams());

  readonly #window: Browser;

  constructor(window: Browser) {
    this.#window = window;
    this.#read();
  }

  /** Follows the address until the returned function is called. */
  follow(): () => void {
    const changed = () => this.#read();
    this.#window.addEventListener('hashchange', changed);
    return () => this.#window.removeEventListener('hashchange', changed);
  }

  /** Keeps in the address what of the page is shown, for who loads it again or sends it on. Empty is not kept. */
  ask(wanted: Record<string, string>): void {
    const query = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
    this.query = query;
    const address = `#${this.path}${query.size > 0 ? `?${query}` : ''}`;
    // The same page is not another one: nobody goes back to it, and nothing begins anew.
    this.#window.history.replaceState(this.#window.history.state, '', address);
  }

  #read(): void {
    const [path, query] = this.#window.location.hash.slice(1).split('?', 2);
    this.path = path || '/';
    this.query = new URLSearchParams(query);
  }
}
