import { decimalsOf, moneyText } from '../forms/money.ts';
import type { Messages } from '../messages/index.ts';

/** What was done, in words; a word of the server that we do not know stays as it is. */
export function actionText({ audit }: Messages, action: string): string {
  return audit.actions[action] ?? action;
}

export function thingText({ audit }: Messages, entityType: string): string {
  return audit.things[entityType] ?? entityType;
}

/** What somebody can choose, in the order of the alphabet of their language. */
export function choices(
  { locale }: Messages,
  words: Record<string, string>,
  any: string,
): { value: string; label: string }[] {
  const sorted = Object.entries(words).map(([value, label]) => ({ value, label }));
  sorted.sort((one, other) => one.label.localeCompare(other.label, locale));
  return [{ value: '', label: any }, ...sorted];
}

/** What changed, in one line for each: `Status: open → closed`. */
export function changeTexts(words: Messages, changes: Record<string, unknown>): string[] {
  const currency = typeof changes.currency === 'string' ? changes.currency : undefined;
  return Object.entries(changes)
    .filter(([name, value]) => value !== null && value !== '' && !isNamed(name, changes))
    .map(([name, value]) => {
      const field = words.audit.fields[name] ?? name.replaceAll('_', ' ');
      const told = (each: unknown) => valueText(words, name, each, currency);
      return `${field}: ${isChange(value) ? `${told(value.from)} → ${told(value.to)}` : told(value)}`;
    });
}

/** Whoever reads that it was the north gate need not read its id. */
function isNamed(name: string, changes: Record<string, unknown>): boolean {
  const what = name.endsWith('_id') ? name.slice(0, -'_id'.length) : undefined;
  return what !== undefined && [`${what}_name`, `${what}_code`].some((each) => changes[each]);
}

function isChange(value: unknown): value is { from: unknown; to: unknown } {
  return typeof value === 'object' && value !== null && 'from' in value && 'to' in value;
}

function valueText(
  words: Messages,
  name: string,
  value: unknown,
  currency: string | undefined,
): string {
  if (name.endsWith('_minor') && typeof value === 'number') return money(words, value, currency);
  if (value === null || value === '') return '–';
  // Why somebody was turned away has words; why somebody changed something is in their own.
  const reasons: Record<string, string> = words.reasons;
  if (name.startsWith('reason') && typeof value === 'string') return reasons[value] ?? value;
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) {
    return value.join(', ');
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Some entries do not say their currency: that is then an amount without its sign. */
function money({ locale }: Messages, minor: number, currency: string | undefined): string {
  if (currency) return moneyText(minor, currency, locale);
  const digits = decimalsOf('');
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(locale, format).format(minor / 10 ** digits);
}
