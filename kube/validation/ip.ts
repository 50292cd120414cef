import { isIP } from 'node:net';
import { quoteGo } from '../quote.ts';
import type { Field } from './field.ts';

const badAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const badRange = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** Leading zeros in IPv4 octets count as decimal: old objects have them. */
function withoutLeadingZeros(address: string): string {
  return /^[\d.]+$/.test(address) ? address.replace(/\b0+(?=\d)/g, '') : address;
}

export function isAddress(value: string): boolean {
  return isIP(withoutLeadingZeros(value)) !== 0 && !value.includes('%');
}

/** Of an older field: any spelling but ones that other software reads as another address. */
export function ipAddress(value: string, field: Field): void {
  const message = addressMessage(value);
  if (message) field.invalid(value, message);
}

function addressMessage(value: string): string | undefined {
  if (!isAddress(value)) return badAddress;
  if (value !== withoutLeadingZeros(value)) return 'must not have leading 0s';
  return isMapped(value) ? 'must not be an IPv4-mapped IPv6 address' : undefined;
}

/** What is wrong with an address of a newer field, which has the one spelling of RFC 5952. */
export function canonicalAddressMessages(value: string): string[] {
  const message = addressMessage(value);
  if (message) return [message];
  const canonical = formatAddress(addressBits(value));
  return canonical === value ? [] : [`must be in canonical form (${quoteGo(canonical)})`];
}

function isMapped(value: string): boolean {
  return value.includes(':') && addressBits(value).bits >> 32n === 0xffffn;
}

/** RFC 5952: the longest run of two zeros or more, the first of equals, is `::`. */
function formatAddress({ bits, width }: { bits: bigint; width: number }): string {
  const part = (count: number, size: number, i: number) =>
    Number((bits >> BigInt(size * (count - 1 - i))) & ((1n << BigInt(size)) - 1n));
  if (width === 32) return Array.from({ length: 4 }, (_, i) => part(4, 8, i)).join('.');
  const words = Array.from({ length: 8 }, (_, i) => part(8, 16, i));
  let [from, length] = [-1, 1];
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && words[end] === 0) end++;
    if (end - i > length) [from, length] = [i, end - i];
  }
  const text = (list: number[]) => list.map((word) => word.toString(16)).join(':');
  return from < 0 ? text(words) : `${text(words.slice(0, from))}::${text(words.slice(from + length))}`;
}

/** Addresses that traffic must not be sent to. */
export function endpointAddress(value: string, field: Field): void {
  ipAddress(value, field);
  if (!isAddress(value)) return;
  if (/^0+(\.0+){3}$/.test(value) || value === '::')
    field.invalid(value, `may not be unspecified (${value})`);
  if (value.startsWith('127.') || value === '::1') {
    field.invalid(value, 'may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (value.startsWith('169.254.') || /^fe[89ab]/i.test(value)) {
    field.invalid(value, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (/^224\.0\.0\./.test(value) || /^ff02:/i.test(value)) {
    field.invalid(value, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
}

export interface Range {
  bits: bigint;
  prefix: number;
  width: number;
}

/** Of an address that isIP takes, without a zone. */
export function addressBits(address: string): { bits: bigint; width: number } {
  if (!address.includes(':')) {
    const bits = address.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
    return { bits, width: 32 };
  }
  const mapped = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const hex = (high: string | undefined, low: string | undefined) =>
    (Number(high) * 256 + Number(low)).toString(16);
  const plain = mapped ? `${mapped[1]}${hex(mapped[2], mapped[3])}:${hex(mapped[4], mapped[5])}` : address;
  const [head = '', tail] = plain.split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const middle =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  const bits = [...left, ...middle, ...right].reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n);
  return { bits, width: 128 };
}

export function parseRange(value: string): Range | undefined {
  const [address = '', length = '', more] = value.split('/');
  if (more !== undefined || !isAddress(address) || !/^\d{1,3}$/.test(length)) return undefined;
  const { bits, width } = addressBits(withoutLeadingZeros(address));
  const prefix = Number(length);
  return prefix > width ? undefined : { bits, prefix, width };
}

/** Of an older field, as ipAddress. */
export function cidr(value: string, field: Field): void {
  const range = parseRange(value);
  if (!range) {
    field.invalid(value, badRange);
    return;
  }
  const [address = '', length = ''] = value.split('/');
  if (address !== withoutLeadingZeros(address) || /^0\d/.test(length))
    field.invalid(value, 'must not have leading 0s in IP or prefix length');
  else if (isMapped(address)) field.invalid(value, 'must not have an IPv4-mapped IPv6 address');
  else if (network(range) !== range.bits)
    field.invalid(value, 'must not have bits set beyond the prefix length');
}

/** Of a newer field, as canonicalAddressMessages. */
export function canonicalCidr(value: string, field: Field): void {
  const before = field.causes.length;
  cidr(value, field);
  const range = parseRange(value);
  if (!range || field.causes.length > before) return;
  const canonical = `${formatAddress(range)}/${range.prefix}`;
  if (canonical !== value) field.invalid(value, `must be in canonical form (${quoteGo(canonical)})`);
}

function network({ bits, prefix, width }: Range): bigint {
  const shift = BigInt(width - prefix);
  return (bits >> shift) << shift;
}

export function strictlyWithin(inner: Range, outer: Range): boolean {
  const shift = BigInt(outer.width - outer.prefix);
  return (
    inner.width === outer.width && inner.prefix > outer.prefix && inner.bits >> shift === outer.bits >> shift
  );
}
