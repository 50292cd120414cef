import { isIP } from 'node:net';
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

export function ipAddress(value: string, field: Field): void {
  if (!isAddress(value)) field.invalid(value, badAddress);
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

interface Range {
  bits: bigint;
  prefix: number;
  width: number;
}

function addressBits(address: string): { bits: bigint; width: number } {
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

export function cidr(value: string, field: Field): void {
  if (!parseRange(value)) field.invalid(value, badRange);
}

export function strictlyWithin(inner: Range, outer: Range): boolean {
  const shift = BigInt(outer.width - outer.prefix);
  return (
    inner.width === outer.width && inner.prefix > outer.prefix && inner.bits >> shift === outer.bits >> shift
  );
}
