/**
 * Where somebody goes on who has decided about an item of a list: it may be gone from it, and focus
 * that is lost begins again at the top of the page. Call it before deciding, and what it gives after.
 */
export function focusNext(inItem: HTMLElement): () => void {
  const item = inItem.closest('li');
  const next = item?.nextElementSibling;
  const section = inItem.closest('section');
  return () => {
    const stays = item?.isConnected ? item : next?.isConnected ? next : undefined;
    const heading = stays?.querySelector<HTMLElement>('h3') ?? section?.querySelector('h2');
    if (!heading) return;
    heading.tabIndex = -1;
    heading.focus();
  };
}
