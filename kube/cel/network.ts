import { isIP } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';
import { parseRange } from '../validation/ip.ts';

/** A URL among CEL's values. */
class CelUrl {
  readonly url: URL;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
    this.url = new URL(text, 'http://relative.invalid');
  }

  get absolute(): boolean {
    return /^[a-z][-+.a-z0-9]*:/i.test(this.text);
  }
}

class CelIp {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

class CelCidr {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function isUrl(text: string): boolean {
  if (!/^([a-z][-+.a-z0-9]*:\/\/|\/)/i.test(text)) return false;
  return URL.canParse(text, 'http://relative.invalid');
}

function url(text: string): CelUrl {
  if (!isUrl(text))
    throw new Error(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
    );
  return new CelUrl(text);
}

function registerUrl(env: Environment): void {
  env
    .registerType('URL', { ctor: CelUrl, fields: {} })
    .registerFunction('url(string): URL', url)
    .registerFunction('isURL(string): bool', isUrl)
    .registerFunction('URL.getScheme(): string', (u: CelUrl) =>
      u.absolute ? u.url.protocol.slice(0, -1) : '',
    )
    .registerFunction('URL.getHost(): string', (u: CelUrl) => (u.absolute ? u.url.host : ''))
    .registerFunction('URL.getHostname(): string', (u: CelUrl) =>
      u.absolute ? u.url.hostname.replace(/^\[|\]$/g, '') : '',
    )
    .registerFunction('URL.getPort(): string', (u: CelUrl) => (u.absolute ? u.url.port : ''))
    .registerFunction('URL.getEscapedPath(): string', (u: CelUrl) => u.url.pathname);
}

function registerAddresses(env: Environment): void {
  const isIp = (text: string) => isIP(text) !== 0 && !text.includes('%');
  const isCidr = (text: string) => parseRange(text) !== undefined;
  env
    .registerType('IP', { ctor: CelIp, fields: {} })
    .registerType('CIDR', { ctor: CelCidr, fields: {} })
    .registerFunction('isIP(string): bool', isIp)
    .registerFunction('isCIDR(string): bool', isCidr)
    .registerFunction('ip(string): IP', (text: string) => {
      if (!isIp(text))
        throw new Error(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
      return new CelIp(text);
    })
    .registerFunction('cidr(string): CIDR', (text: string) => {
      if (!isCidr(text))
        throw new Error(`network address parse error during conversion from string: ${text}`);
      return new CelCidr(text);
    })
    .registerFunction('IP.family(): int', (address: CelIp) => BigInt(isIP(address.text)))
    .registerFunction('IP.isLoopback(): bool', ({ text }: CelIp) => text.startsWith('127.') || text === '::1')
    .registerFunction('IP.isUnspecified(): bool', ({ text }: CelIp) => text === '0.0.0.0' || text === '::')
    .registerFunction('CIDR.prefixLength(): int', ({ text }: CelCidr) =>
      BigInt(parseRange(text)?.prefix ?? 0),
    )
    .registerFunction('CIDR.containsIP(string): bool', ({ text }: CelCidr, address: string) =>
      within(address, text),
    )
    .registerFunction('CIDR.containsIP(IP): bool', ({ text }: CelCidr, address: CelIp) =>
      within(address.text, text),
    );
}

function within(address: string, range: string): boolean {
  const outer = parseRange(range);
  const inner = parseRange(`${address}/${isIP(address) === 6 ? 128 : 32}`);
  if (!outer || !inner || inner.width !== outer.width) return false;
  const shift = BigInt(outer.width - outer.prefix);
  return inner.bits >> shift === outer.bits >> shift;
}

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-url-library and the two libraries beside it. */
export function registerNetwork(env: Environment): void {
  registerUrl(env);
  registerAddresses(env);
}
