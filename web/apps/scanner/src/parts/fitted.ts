/** From as large as it is meant to as small as it may be. */
const SCALES = [1, 0.88, 0.77, 0.68, 0.6, 0.52, 0.46];

/** Makes everything inside smaller, by `--scale`, until nothing is cut off. */
export function fitted(element: HTMLElement): void {
  for (const scale of SCALES) {
    element.style.setProperty('--scale', String(scale));
    if (element.scrollHeight <= element.clientHeight) return;
  }
}
