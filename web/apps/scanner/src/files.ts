/** Lets the browser save them, under names that say when; of several also which. */
export function saveFiles(files: Blob[], prefix: string): string[] {
  const at = new Date().toISOString().replace(/[:.]/g, '-');
  return files.map((file, place) => {
    const number = files.length > 1 ? `-${place + 1}-of-${files.length}` : '';
    return saveFile(file, `${prefix}-${at}${number}.json`);
  });
}

function saveFile(file: Blob, name: string): string {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return name;
}
