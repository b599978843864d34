/** The page named by the part of the address after the #, such as `/events/123`. */
export class HashRoute {
  path = $state('/');

  readonly #window: Pick<Window, 'location' | 'addEventListener' | 'removeEventListener'>;

  constructor(window: Pick<Window, 'location' | 'addEventListener' | 'removeEventListener'>) {
    this.#window = window;
    this.#read();
  }

  /** Follows the address until the returned function is called. */
  follow(): () => void {
    const changed = () => this.#read();
    this.#window.addEventListener('hashchange', changed);
    return () => this.#window.removeEventListener('hashchange', changed);
  }

  #read(): void {
    this.path = this.#window.location.hash.slice(1) || '/';
  }
}
