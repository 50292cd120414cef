import { isIP } from 'node:net';
import { parseRange, type Range } from '../../validation/ip.ts';
import { type Budget, RunError } from './budget.ts';
import type { Run } from './run.ts';
import { noOverload, Opaque, type Value } from './values.ts';

class Url extends Opaque {
  readonly type = 'kubernetes.URL';
  readonly key: string;
  readonly url: URL;

  constructor(text: string) {
    super();
    this.key = text;
    this.url = new URL(text, 'http://relative.invalid');
  }

  get absolute(): boolean {
    return /^[a-z][-+.a-z0-9]*:/i.test(this.key);
  }
}

class Ip extends Opaque {
  readonly type = 'net.IP';
  readonly key: string;

  constructor(text: string) {
    super();
    const { bits, width } = rangeOf(`${text}/${isIP(text) === 6 ? 128 : 32}`);
    this.key = addressText(bits, width);
  }

  get range(): Range {
    return rangeOf(`${this.key}/${isIP(this.key) === 6 ? 128 : 32}`);
  }
}

class Cidr extends Opaque {
  readonly type = 'net.CIDR';
  readonly key: string;
  readonly range: Range;

  constructor(text: string) {
    super();
    this.range = prefixOf(text);
    const { bits, width, prefix } = this.range;
    this.key = `${addressText(bits, width)}/${prefix}`;
  }
}

function rangeOf(text: string): Range {
  const range = parseRange(text);
  if (!range) throw new RunError(`network address parse error during conversion from string: ${text}`);
  return range;
}

/** As Go's netip reads them: no zone, no leading zeros; and none of IPv4 that is written as one of IPv6. */
function prefixOf(text: string): Range {
  const [, address = '', bits = ''] = /^(.*)\/(.*)$/s.exec(text) ?? [];
  const isOne = isIP(address) !== 0 && !address.includes('%') && /^(0|[1-9]\d*)$/.test(bits);
  const range = isOne ? rangeOf(text) : undefined;
  if (!range) throw new RunError(`network address parse error during conversion from string: ${text}`);
  if (isMapped(range)) throw mappedError(text);
  return range;
}

function isMapped({ bits, width }: Range): boolean {
  return width === 128 && bits >> 32n === 0xffffn;
}

function mappedError(text: string): RunError {
  return new RunError(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
}

function canRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

function text(budget: Budget, value: Value): string {
  if (typeof value !== 'string') throw noOverload();
  budget.text(value);
  return value;
}

function isUrl(value: string): boolean {
  if (!/^([a-z][-+.a-z0-9]*:\/\/|\/)/i.test(value)) return false;
  return URL.canParse(value, 'http://relative.invalid');
}

function url(value: string): Url {
  if (isUrl(value)) return new Url(value);
  const why = `parse ${JSON.stringify(value)}: invalid URI for request`;
  throw new RunError(`URL parse error during conversion from string: ${why}`);
}

function ip(value: string): Ip {
  const quoted = JSON.stringify(value);
  if (isIP(value) !== 0) {
    if (value.includes('%')) throw new RunError(`IP address ${quoted} with zone value is not allowed`);
    const address = new Ip(value);
    if (isMapped(address.range)) throw mappedError(value);
    return address;
  }
  const why = `ParseAddr(${quoted}): unable to parse IP`;
  throw new RunError(`IP Address ${quoted} parse error during conversion from string: ${why}`);
}

function within(inner: Range, outer: Range): boolean {
  if (inner.width !== outer.width || inner.prefix < outer.prefix) return false;
  const shift = BigInt(outer.width - outer.prefix);
  return inner.bits >> shift === outer.bits >> shift;
}

/** An address of which a question is asked: `text` for what is written otherwise than the class of it. */
const ofIp =
  (answer: (address: string) => boolean): Run =>
  (_, of) => {
    if (of instanceof Ip) return answer(of.key);
    throw noOverload();
  };

const inRanges = (...ranges: string[]) => {
  const known = ranges.map(rangeOf);
  return (address: string) => known.some((range) => within(new Ip(address).range, range));
};

const loopback = inRanges('127.0.0.0/8', '::1/128');
const linkLocal = inRanges('169.254.0.0/16', 'fe80::/10');
const linkLocalMulticast = inRanges('224.0.0.0/24', 'ff02::/16');
const multicast = inRanges('224.0.0.0/4', 'ff00::/8');
const unspecified = inRanges('0.0.0.0/32', '::/128');
const broadcast = inRanges('255.255.255.255/32');

const ofUrl =
  (answer: (url: Url, budget: Budget) => Value): Run =>
  (budget, of) => {
    if (of instanceof Url) return answer(of, budget);
    throw noOverload();
  };

function cidr(value: Value): Cidr {
  if (value instanceof Cidr) return value;
  throw noOverload();
}

function masked({ range: { bits, prefix, width } }: Cidr): Cidr {
  const shift = BigInt(width - prefix);
  return new Cidr(`${addressText((bits >> shift) << shift, width)}/${prefix}`);
}

function addressText(bits: bigint, width: number): string {
  if (width === 32) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.');
  const parts = Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  return new URL(`http://[${parts.join(':')}]`).hostname.slice(1, -1);
}

function queryOf({ key, url: { searchParams } }: Url, budget: Budget): Map<string, string[]> {
  budget.text(key);
  const found = new Map<string, string[]>();
  for (const [name, value] of searchParams) {
    budget.step();
    const values = found.get(name);
    if (values) values.push(value);
    else found.set(name, [value]);
  }
  return found;
}

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-url-library and the two libraries beside it. */
export const network: Readonly<Record<string, Run>> = {
  url: (budget, of) => url(text(budget, of)),
  isURL: (budget, of) => isUrl(text(budget, of)),
  getScheme: ofUrl((u) => (u.absolute ? u.url.protocol.slice(0, -1) : '')),
  getHost: ofUrl((u) => (u.absolute ? u.url.host : '')),
  getHostname: ofUrl((u) => (u.absolute ? u.url.hostname.replace(/^\[|\]$/g, '') : '')),
  getPort: ofUrl((u) => (u.absolute ? u.url.port : '')),
  getEscapedPath: ofUrl((u) => u.url.pathname),
  getQuery: ofUrl(queryOf),
  ip: (budget, of) => {
    if (!(of instanceof Cidr)) return ip(text(budget, of));
    return new Ip(of.key.slice(0, of.key.lastIndexOf('/')));
  },
  isIP: (budget, of) => {
    const written = text(budget, of);
    return canRead(() => ip(written));
  },
  'ip.isCanonical': (budget, of) => {
    const written = text(budget, of);
    return ip(written).key === written;
  },
  family: (_, of) => {
    if (of instanceof Ip) return BigInt(isIP(of.key));
    throw noOverload();
  },
  isLoopback: ofIp(loopback),
  isUnspecified: ofIp(unspecified),
  isLinkLocalUnicast: ofIp(linkLocal),
  isLinkLocalMulticast: ofIp(linkLocalMulticast),
  isGlobalUnicast: ofIp(
    (address) => ![loopback, linkLocal, multicast, unspecified, broadcast].some((is) => is(address)),
  ),
  cidr: (budget, of) => new Cidr(text(budget, of)),
  isCIDR: (budget, of) => {
    const written = text(budget, of);
    return canRead(() => prefixOf(written));
  },
  prefixLength: (_, of) => BigInt(cidr(of).range.prefix),
  masked: (_, of) => masked(cidr(of)),
  containsIP: (budget, of, address) =>
    within((address instanceof Ip ? address : ip(text(budget, address))).range, cidr(of).range),
  containsCIDR: (budget, of, other) =>
    within((other instanceof Cidr ? other : new Cidr(text(budget, other))).range, cidr(of).range),
};
