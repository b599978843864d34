/**
 * Runs `work` once at a time. Calls that arrive meanwhile share one further run,
 * so that a burst of live hints costs two reads and the last read sees everything.
 */
export function coalesced(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let following: Promise<void> | undefined;

  const start = (): Promise<void> => {
    running = work().finally(() => (running = undefined));
    return running;
  };

  return () => {
    if (!running) return start();
    following ??= running
      .catch(() => undefined)
      .then(() => {
        following = undefined;
        return start();
      });
    return following;
  };
}
