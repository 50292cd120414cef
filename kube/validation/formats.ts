import { isIP } from 'node:net';
import { DurationError, parseDuration } from '../duration.ts';
import { isCard, isIsbn10, isIsbn13 } from './checksums.ts';
import { isEmail } from './email.ts';
import { isAddress, parseRange } from './ip.ts';
import { looseDuration } from './loose-duration.ts';

/** Whether a text is of a format; in time that grows with its length. */
type Check = (value: string) => boolean;

const uuidOf =
  (version: string, variant = ''): Check =>
  (value) =>
    value.length <= 36 &&
    new RegExp(
      `^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?${variant}[0-9a-f]{${variant ? 3 : 4}}-?[0-9a-f]{12}$`,
      'i',
    ).test(value);

function isDate(value: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value) ?? [];
  if (day === undefined || Number(month) < 1 || Number(month) > 12) return false;
  // A year below 100 is another one to Date.UTC, 400 years later are the same.
  const last = new Date(Date.UTC(Number(year) + 400, Number(month), 0)).getUTCDate();
  return Number(day) >= 1 && Number(day) <= last;
}

/** Of an offset, as kube-apiserver has it, no more is looked at than that it is written as one. */
function isDateTime(value: string): boolean {
  const [date = '', time = ''] = value.toLowerCase().split('t', 2);
  const [, hour, minute = '', second = ''] =
    /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[-+]\d\d:\d\d)$/.exec(time) ?? [];
  return isDate(date) && hour !== undefined && hour <= '23' && minute <= '59' && second <= '59';
}

function isDuration(value: string): boolean {
  try {
    parseDuration(value);
    return true;
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    return looseDuration(value) !== undefined;
  }
}

const label = /^[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
const alone = /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})$/u;

function isHostname(value: string): boolean {
  if (Buffer.byteLength(value) > 255) return false;
  const labels = value.split('.');
  if (labels.some((one) => Buffer.byteLength(one) > 63)) return false;
  const last = labels.pop() ?? '';
  if (labels.length === 0) return alone.test(last);
  return labels.every((one) => label.test(one)) && /^[a-zA-Z\p{L}]{2,63}$/u.test(last);
}

/** Of 6, 8 or 20 bytes. */
function isMac(value: string): boolean {
  const written =
    /^(?:[0-9a-f]{2}(?::[0-9a-f]{2})+|[0-9a-f]{2}(?:-[0-9a-f]{2})+|[0-9a-f]{4}(?:\.[0-9a-f]{4})+|[0-9a-f]+)$/i;
  const digits = value.length > 59 ? 0 : value.replaceAll(/[-:.]/g, '').length;
  return [12, 16, 40].includes(digits) && written.test(value);
}

const color = /^rgb\((?:\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*(?:,(?!\s*\))|(?=\)))){3}\)$/;
const name = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const longName = new RegExp(`^${name}(?:\\.${name})*$`);
const shortName = new RegExp(`^${name}$`);

/** Formats that custom resources' strings are held to, without their dashes; any other name means nothing. */
const formats: Readonly<Record<string, Check>> = {
  bsonobjectid: (value) => /^[0-9a-f]{24}$/i.test(value),
  uri: (value) =>
    /^([a-z][-+.a-z0-9]*:|\/)/i.test(value) &&
    !/^(?:[a-z][-+.a-z0-9]*:)?\/[^?]*%(?![0-9a-f]{2})/i.test(value) &&
    URL.canParse(value, 'http://relative.invalid'),
  email: isEmail,
  hostname: isHostname,
  ipv4: (value) => value.includes('.') && isAddress(value),
  ipv6: (value) => isIP(value) === 6 && !value.includes('%'),
  cidr: (value) => parseRange(value) !== undefined,
  mac: isMac,
  uuid: uuidOf('[0-9a-f]{4}'),
  uuid3: uuidOf('3[0-9a-f]{3}'),
  uuid4: uuidOf('4[0-9a-f]{3}', '[89ab]'),
  uuid5: uuidOf('5[0-9a-f]{3}', '[89ab]'),
  isbn: (value) => isIsbn10(value) || isIsbn13(value),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCard,
  ssn: (value) => /^\d{3}[- ]\d{2}[- ]\d{4}$/.test(value),
  hexcolor: (value) => /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value),
  rgbcolor: (value) => value.length <= 1000 && color.test(value),
  byte: (value) => value !== '' && value.length % 4 === 0 && /^[+/0-9A-Za-z]+={0,2}$/.test(value),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (value) => value.length <= 63 && shortName.test(value),
  k8slongname: (value) => value.length <= 253 && longName.test(value),
};

const numeric: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** Whether a format means something for a type; those of texts do also where no type is said. */
export function isFormatOf(format: string, type: string): boolean {
  if (Object.hasOwn(numeric, type)) return numeric[type]?.includes(format) === true;
  if (type !== '' && type !== 'string') return false;
  return checkOf(format) !== undefined;
}

function checkOf(format: string): Check | undefined {
  const known = format.replaceAll('-', '');
  return Object.hasOwn(formats, known) ? formats[known] : undefined;
}

export function hasFormat(value: string, format: string): boolean {
  return checkOf(format)?.(value) !== false;
}

/** As Go's %v has a float64: beyond six digits before the point with an exponent. */
export function goNumber(value: number): string {
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4))
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  return String(value);
}
