/** From as large as it is meant to as small as it may be. */
const SCALES = [1, 0.88, 0.77, 0.68, 0.6, 0.52, 0.46];

/**
 * Makes everything inside smaller, by `--scale`, until nothing is cut off; again when it is turned.
 * `data-tight`: it does not fit as small as it may be.
 */
export function fitted(element: HTMLElement): () => void {
  const fit = () => {
    delete element.dataset.tight;
    for (const scale of SCALES) {
      element.style.setProperty('--scale', String(scale));
      if (hasRoom(element)) return;
    }
    element.dataset.tight = '';
  };
  fit();
  window.addEventListener('resize', fit);
  return () => window.removeEventListener('resize', fit);
}

/** A word that is too long for its line shows nowhere but in the part that it is in. */
function hasRoom(element: HTMLElement): boolean {
  if (element.scrollHeight > element.clientHeight) return false;
  const parts = [...element.querySelectorAll('*')];
  // What is written in a line, and what is hidden, has no width of its own.
  return parts.every(
    ({ clientWidth, scrollWidth }) => clientWidth <= 1 || scrollWidth <= clientWidth,
  );
}
