const AMOUNT = /^(\d+)(?:[.,](\d+))?$/;
const DIGITS_MAX = 15;

/** Digits after the point: two of most currencies, none of some. */
export function decimalsOf(currency: string): number {
  try {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    return format.resolvedOptions().maximumFractionDigits ?? 2;
  } catch {
    return 2; // while somebody is still typing the currency
  }
}

/**
 * Minor units of what somebody typed, `120.00`, `120,00` or `1 200`; undefined if it is no amount.
 * The digits are never a fraction on the way, for 1.15 times 100 is not 115.
 */
export function minorUnits(typed: string, currency: string): number | undefined {
  const [, whole, part = ''] = AMOUNT.exec(typed.replace(/\s/g, '')) ?? [];
  const decimals = decimalsOf(currency);
  if (whole === undefined || part.length > decimals) return undefined;
  const digits = whole + part.padEnd(decimals, '0');
  return digits.length > DIGITS_MAX ? undefined : Number(digits);
}

/** As it is typed: `120.00`. */
export function amountText(amountMinor: number, currency: string): string {
  const decimals = decimalsOf(currency);
  const digits = String(amountMinor).padStart(decimals + 1, '0');
  if (decimals === 0) return digits;
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** As it is read: `R 120,00`. */
export function moneyText(amountMinor: number, currency: string, locale: string): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  return format.format(amountMinor / 10 ** decimalsOf(currency));
}
