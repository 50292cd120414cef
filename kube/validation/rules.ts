import {
  maxCharactersMessage,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateQualifiedName,
} from '../names.ts';
import { at, isRecord } from '../untyped.ts';
import type { Field } from './field.ts';

/** Checks that many kinds share. Each adds its causes to the field it is given. */
export const notNegative = 'must be greater than or equal to 0';
export const immutable = 'field is immutable';
const maxInt32 = 2_147_483_647;

export function inclusiveRange(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

/** Beyond 2^53 they are bigint. */
function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

export function nonNegative(value: unknown, field: Field): void {
  if (isNumber(value) && value < 0) field.invalid(value, notNegative);
}

export function positive(value: unknown, field: Field): void {
  if (!isNumber(value) || value <= 0) field.invalid(value ?? 0, 'must be greater than zero');
}

export function oneOf(value: unknown, supported: readonly string[], field: Field): void {
  if (value === undefined || value === '') field.required();
  else if (typeof value !== 'string' || !supported.includes(value)) field.notSupported(value, supported);
}

/** As oneOf, where an empty text is not the same as none. */
export function pointedOneOf(value: unknown, supported: readonly string[], field: Field): void {
  if (value === undefined || value === null) field.required();
  else if (typeof value !== 'string' || !supported.includes(value)) field.notSupported(value, supported);
}

export function dns1123Label(value: string, field: Field): void {
  field.invalidAll(value, validateDns1123Label(value));
}

export function dns1123Subdomain(value: string, field: Field): void {
  field.invalidAll(value, validateDns1123Subdomain(value));
}

export function qualifiedName(value: string, field: Field): void {
  field.invalidAll(value, validateQualifiedName(value));
}

const urlPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const urlPathPattern = new RegExp(`^${urlPath}$`);

/** `example.com/anything` */
export function domainPrefixedPath(value: string, field: Field): void {
  const slash = value.indexOf('/');
  const [domain, path] = [value.slice(0, slash), value.slice(slash + 1)];
  if (slash <= 0 || path === '') {
    field.invalid(value, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  field.invalidAll(domain, validateDns1123Subdomain(domain));
  if (!urlPathPattern.test(path))
    field.invalid(path, `Invalid path (regex used for validation is '${urlPath}')`);
}

export function portNumber(value: unknown, field: Field): void {
  const port = typeof value === 'number' ? value : 0;
  if (port < 1 || port > 65_535) field.invalid(port, inclusiveRange(1, 65_535));
}

export function portNameMessages(port: string): string[] {
  const messages: string[] = [];
  if (port.length > 15) messages.push(maxCharactersMessage(15));
  if (!/^[-a-z0-9]+$/.test(port)) {
    messages.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(port)) messages.push('must contain at least one letter (a-z)');
  if (port.includes('--')) messages.push('must not contain consecutive hyphens');
  if (port.startsWith('-') || port.endsWith('-')) messages.push('must not begin or end with a hyphen');
  return messages;
}

export function portNumberOrName(value: unknown, field: Field): void {
  if (typeof value === 'string') field.invalidAll(value, portNameMessages(value));
  else portNumber(value, field);
}

export function userId(value: unknown, field: Field): void {
  if (isNumber(value) && (value < 0 || value > maxInt32)) {
    field.invalid(value, inclusiveRange(0, maxInt32));
  }
}

export function configKeyMessages(value: string): string[] {
  const messages: string[] = [];
  if (Buffer.byteLength(value) > 253) messages.push(maxCharactersMessage(253));
  if (!/^[-._a-zA-Z0-9]+$/.test(value)) {
    messages.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (value === '.' || value === '..') messages.push(`must not be '${value}'`);
  else if (value.startsWith('..')) messages.push("must not start with '..'");
  return messages;
}

export function noBacksteps(path: string, field: Field): void {
  if (path.split('/').includes('..')) field.invalid(path, "must not contain '..'");
}

export function localDescendingPath(path: string, field: Field): void {
  if (path.startsWith('/')) field.invalid(path, 'must be a relative path');
  noBacksteps(path, field);
}

export function localNonReservedPath(path: string, field: Field): void {
  localDescendingPath(path, field);
  if (path.startsWith('..') && !path.startsWith('../')) field.invalid(path, "must not start with '..'");
}

export function fileMode(value: unknown, field: Field): void {
  if (typeof value === 'number' && (value < 0 || value > 0o777)) {
    field.invalid(value, 'must be a number between 0 and 0777 (octal), both inclusive');
  }
}

/** The number of a percentage, undefined for what is none. */
function percentOf(value: unknown): number | undefined {
  const match = typeof value === 'string' ? /^(\d+)%$/.exec(value) : null;
  return match ? Number(match[1]) : undefined;
}

export function intOrPercent(value: unknown, field: Field): void {
  if (typeof value === 'number') nonNegative(value, field);
  else if (typeof value === 'string' && percentOf(value) === undefined) {
    const rule = "a valid percent string must be a numeric string followed by an ending '%'";
    field.invalid(value, `${rule} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`);
  }
}

export function notAbove100Percent(value: unknown, field: Field): void {
  const percent = percentOf(value);
  if (percent !== undefined && percent > 100) field.invalid(value, 'must not be greater than 100%');
}

export function intOrPercentValue(value: unknown): number {
  return typeof value === 'number' ? value : (percentOf(value) ?? 0);
}

export function isSet(object: unknown, field: string): boolean {
  return isRecord(at(object, field));
}
