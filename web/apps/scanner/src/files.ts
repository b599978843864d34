/** Lets the browser save it, under a name that says when. */
export function saveFile(file: Blob, prefix: string): string {
  const name = `${prefix}-${new Date().toISOString().replace(/[:.]/g, '-')}.json`;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return name;
}
