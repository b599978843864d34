/** Whole microseconds since 1970, which a number holds exactly. */
export type Moment = number;

const FORM =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
const MICROSECONDS_PER_MILLISECOND = 1_000;
const MICROSECONDS_PER_MINUTE = 60_000_000;
const DIGITS = 6;

export function parseMoment(text: string): Moment {
  const moment = readMoment(text);
  if (moment === null) throw new RangeError(`not a moment: ${text.slice(0, 40)}`);
  return moment;
}

/** Null where it is not ISO 8601 with seconds and a zone, or of a day that no calendar has. */
export function readMoment(text: string): Moment | null {
  const found = FORM.exec(text);
  if (found === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', sign, hours, minutes] = found;
  const milliseconds = Date.UTC(+year!, +month! - 1, +day!, +hour!, +minute!, +second!);
  // The 30th of February is carried over into March.
  if (new Date(milliseconds).getUTCDate() !== +day!) return null;
  const moment = milliseconds * MICROSECONDS_PER_MILLISECOND + +fraction.padEnd(DIGITS, '0');
  if (sign === undefined) return moment;
  const ahead = (+hours! * 60 + +minutes!) * MICROSECONDS_PER_MINUTE;
  return sign === '+' ? moment - ahead : moment + ahead;
}

/** In UTC with all six digits, as it is signed and as manifests have it. */
export function momentText(moment: Moment): string {
  const milliseconds = Math.floor(moment / MICROSECONDS_PER_MILLISECOND);
  const rest = moment - milliseconds * MICROSECONDS_PER_MILLISECOND;
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
}
