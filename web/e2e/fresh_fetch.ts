interface Given {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/**
 * Over a connection of its own. One that was kept may be closed by the server just when it is used
 * again, and a busy machine notices that too late.
 */
export function freshFetch(url: string, given: Given = {}): Promise<Response> {
  return fetch(url, { ...given, headers: { ...given.headers, Connection: 'close' } });
}
