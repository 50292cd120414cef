import { isIP } from 'node:net';
import { parseRange } from './ip.ts';

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const versionedUuid = (version: string) =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, 'i');
const dateTime = /^\d{4}-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Formats that custom resources' strings are held to; any other name means nothing. */
const formats: Readonly<Record<string, (value: string) => boolean>> = {
  'date-time': (value) => dateTime.test(value) && !Number.isNaN(Date.parse(value)),
  datetime: (value) => dateTime.test(value) && !Number.isNaN(Date.parse(value)),
  date: (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)),
  duration: (value) => /^([-+]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+$|^0$/.test(value),
  uuid: (value) => uuid.test(value),
  uuid3: (value) => versionedUuid('3').test(value),
  uuid4: (value) => versionedUuid('4').test(value),
  uuid5: (value) => versionedUuid('5').test(value),
  ipv4: (value) => isIP(value) === 4,
  ipv6: (value) => isIP(value) === 6,
  cidr: (value) => parseRange(value) !== undefined,
  mac: (value) => /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(value),
  uri: (value) => /^([a-z][-+.a-z0-9]*:|\/)/i.test(value) && URL.canParse(value, 'http://relative.invalid'),
  byte: (value) => value.length % 4 === 0 && /^[+/0-9A-Za-z]*={0,2}$/.test(value),
  email: (value) => /^[^\s@<>]+@[^\s@<>]+$/.test(value),
};

const numeric: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** Whether a format means something for a type; those of texts do also where no type is said. */
export function isFormatOf(format: string, type: string): boolean {
  if (Object.hasOwn(numeric, type)) return numeric[type]?.includes(format) === true;
  if (type !== '' && type !== 'string') return false;
  const name = format.replaceAll('-', '');
  return name === 'datetime' || Object.hasOwn(formats, name) || unchecked.has(name);
}

/** Known, and held by every text here. */
const unchecked = new Set(
  'bsonobjectid hostname isbn isbn10 isbn13 creditcard ssn hexcolor rgbcolor password k8sshortname k8slongname'.split(
    ' ',
  ),
);

export function hasFormat(value: string, format: string): boolean {
  return !Object.hasOwn(formats, format) || formats[format]?.(value) !== false;
}

/** As Go's %v has a float64: beyond six digits before the point with an exponent. */
export function goNumber(value: number): string {
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4))
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  return String(value);
}
