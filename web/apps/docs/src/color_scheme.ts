/** The viewer knows a dark look, but waits to be told. */
export function followColorScheme(): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const tell = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  tell();
  dark.addEventListener('change', tell);
  return () => dark.removeEventListener('change', tell);
}
