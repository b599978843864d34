/**
 * A QR code of one size: version 4 (33 modules), level L, mask 0, for up to 78 bytes. Enough for a
 * pairing token, and for what a device shows of itself, 64 hex digits; a whole encoder would be twenty
 * times as much to download.
 */
export const SIZE = 33;
export const BYTES_MAX = 78;
const DATA_CODEWORDS = 80;
const CHECK_CODEWORDS = 20;
const BYTE_MODE = 0b0100;
const PADDING = [0xec, 0x11];
/** Level L with mask 0, with its own check bits. */
const FORMAT = 0b111011111000100;
const FORMAT_BITS = 15;
const ALIGNMENT_CENTRE = 26;
const TIMING = 6;
/** x^8 + x^4 + x^3 + x^2 + 1 */
const FIELD_POLYNOMIAL = 0x11d;

type Grid = (boolean | null)[][];

/** Rows of modules, true where it is dark. */
export function qrModules(text: string): boolean[][] {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > BYTES_MAX) throw new RangeError(`more than ${BYTES_MAX} bytes`);
  const data = dataCodewords(bytes);
  const grid = patterns();
  fill(grid, [...data, ...checkCodewords(data)]);
  return grid.map((row) => row.map((module) => module === true));
}

function dataCodewords(bytes: Uint8Array): number[] {
  // Four bits of mode and eight of length put every byte half a codeword late.
  const nibbles = [BYTE_MODE, bytes.length >> 4, bytes.length & 15];
  for (const byte of bytes) nibbles.push(byte >> 4, byte & 15);
  nibbles.push(0);
  const codewords: number[] = [];
  for (let at = 0; at < nibbles.length; at += 2) {
    codewords.push(((nibbles[at] ?? 0) << 4) | (nibbles[at + 1] ?? 0));
  }
  for (let at = 0; codewords.length < DATA_CODEWORDS; at ^= 1) codewords.push(PADDING[at] ?? 0);
  return codewords;
}

/** Reed-Solomon: what remains of the data divided by the generator. */
function checkCodewords(data: number[]): number[] {
  const generator = generatorOf(CHECK_CODEWORDS);
  const rest = new Array<number>(CHECK_CODEWORDS).fill(0);
  for (const codeword of data) {
    const factor = codeword ^ (rest.shift() ?? 0);
    rest.push(0);
    generator.forEach(
      (coefficient, at) => (rest[at] = (rest[at] ?? 0) ^ times(coefficient, factor)),
    );
  }
  return rest;
}

/** Without its leading one. */
function generatorOf(degree: number): number[] {
  let generator = [1];
  let root = 1;
  for (let step = 0; step < degree; step += 1) {
    const shifted = [...generator, 0];
    generator.forEach((coefficient, at) => (shifted[at + 1]! ^= times(coefficient, root)));
    generator = shifted;
    root = times(root, 2);
  }
  return generator.slice(1);
}

function times(one: number, other: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * FIELD_POLYNOMIAL);
    product ^= ((other >> bit) & 1) * one;
  }
  return product;
}

/** Everything that is the same whatever the code says; null where the data go. */
function patterns(): Grid {
  const grid: Grid = Array.from({ length: SIZE }, () => new Array<boolean | null>(SIZE).fill(null));
  for (let at = 0; at < SIZE; at += 1) grid[TIMING]![at] = grid[at]![TIMING] = at % 2 === 0;
  for (const [row, column] of [
    [3, 3],
    [3, SIZE - 4],
    [SIZE - 4, 3],
  ] as const) {
    rings(grid, row, column, 4, [true, true, false, true, false]);
  }
  rings(grid, ALIGNMENT_CENTRE, ALIGNMENT_CENTRE, 2, [true, false, true]);
  for (let bit = 0; bit < FORMAT_BITS; bit += 1) formatBit(grid, bit);
  grid[SIZE - 8]![8] = true;
  return grid;
}

/** Squares around a centre, by their distance from it. */
function rings(grid: Grid, row: number, column: number, reach: number, dark: boolean[]): void {
  for (let down = -reach; down <= reach; down += 1) {
    for (let right = -reach; right <= reach; right += 1) {
      const at = { row: row + down, column: column + right };
      if (at.row < 0 || at.column < 0 || at.row >= SIZE || at.column >= SIZE) continue;
      grid[at.row]![at.column] = dark[Math.max(Math.abs(down), Math.abs(right))]!;
    }
  }
}

/** The same fifteen bits twice: around the first corner, and shared by the two others. */
function formatBit(grid: Grid, bit: number): void {
  const isDark = ((FORMAT >> bit) & 1) === 1;
  // The timing patterns are jumped over.
  const along = bit < 6 ? bit : bit < 8 ? bit + 1 : FORMAT_BITS - 1 - bit;
  if (bit < 8) grid[along]![8] = isDark;
  else grid[8]![bit === 8 ? 7 : along] = isDark;
  if (bit < 8) grid[8]![SIZE - 1 - bit] = isDark;
  else grid[SIZE - FORMAT_BITS + bit]![8] = isDark;
}

/** Up and down in columns of two from the right, without the column of the timing pattern. */
function fill(grid: Grid, codewords: number[]): void {
  let place = 0;
  let isUp = true;
  for (let right = SIZE - 1; right > 0; right -= right === TIMING + 2 ? 3 : 2) {
    for (let step = 0; step < SIZE; step += 1) {
      const row = isUp ? SIZE - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (grid[row]![column] !== null) continue;
        const bit = ((codewords[place >> 3] ?? 0) >> (7 - (place & 7))) & 1;
        grid[row]![column] = (bit === 1) !== ((row + column) % 2 === 0);
        place += 1;
      }
    }
    isUp = !isUp;
  }
}
