import { isIP } from 'node:net';
import { quoteGo } from '../quote.ts';
import { isAddress, parseRange } from '../validation/ip.ts';

const mapped = /^::ffff:(\w+):(\w+)$/;

/** As Go prints the address: IPv6 in the form of RFC 5952, IPv4 for what is mapped, no leading zeros. */
function canonical(address: string): string {
  if (!address.includes(':')) return address.replace(/\b0+(?=\d)/g, '');
  const host = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const parts = mapped.exec(host);
  if (!parts) return host;
  const [high, low] = [Number.parseInt(parts[1] ?? '0', 16), Number.parseInt(parts[2] ?? '0', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function isStandard(address: string): boolean {
  return isIP(address) !== 0 && !(address.includes(':') && !canonical(address).includes(':'));
}

/** Of an address that is taken all the same. */
export function addressWarnings(value: string, path: string): string[] {
  if (!isAddress(value)) return [];
  const plain = canonical(value);
  const shown = quoteGo(value);
  if (!isStandard(value))
    return [`${path}: non-standard IP address ${shown} is invalid: use ${quoteGo(plain)}`];
  if (isIP(value) !== 6 || plain === value) return [];
  return [`${path}: IPv6 address ${shown} should be in RFC 5952 canonical format (${quoteGo(plain)})`];
}

/** Of a range that is taken all the same. */
export function rangeWarnings(value: string, path: string): string[] {
  const range = parseRange(value);
  if (!range) return [];
  const [address = '', length = ''] = value.split('/');
  const host = (1n << BigInt(range.width - range.prefix)) - 1n;
  const network = networkOf(range.bits & ~host, range.width);
  const shown = quoteGo(value);
  const whole = quoteGo(`${network}/${range.prefix}`);
  const out: string[] = [];
  if ((range.bits & host) !== 0n) {
    const single = quoteGo(`${canonical(address)}/${range.width}`);
    out.push(`${path}: CIDR value ${shown} is ambiguous in this context (should be ${whole} or ${single}?)`);
  }
  if (!isStandard(address) || /^0\d/.test(length))
    out.push(`${path}: non-standard CIDR value ${shown} is invalid: use ${whole}`);
  const plain = `${canonical(address)}/${range.prefix}`;
  if (out.length > 0 || range.width !== 128 || plain === value) return out;
  return [`${path}: IPv6 CIDR value ${shown} should be in RFC 5952 canonical format (${quoteGo(plain)})`];
}

function networkOf(bits: bigint, width: number): string {
  const size = width === 32 ? 8 : 16;
  const parts = Array.from({ length: width / size }, (_, i) =>
    Number((bits >> BigInt(width - size * (i + 1))) & ((1n << BigInt(size)) - 1n)),
  );
  return width === 32 ? parts.join('.') : canonical(parts.map((part) => part.toString(16)).join(':'));
}
