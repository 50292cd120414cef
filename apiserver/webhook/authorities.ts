import { X509Certificate } from 'node:crypto';

/** Of a request's authorities; to read one takes the thread a third of a millisecond. */
const mostLookedAt = 64;
/** What was read is kept for the next connection, of so many bundles, no longer in all than so many characters. */
const mostKept = 1_000;
const mostCharacters = 16 << 20;

/** By an authority among these, which are PEM; for a server, and at that time. */
export function isIssuedBy(ca: string, leaf: X509Certificate, now: number): boolean {
  if (!isValid(leaf, now) || !isForServers(leaf) || !isSoundlySigned(leaf)) return false;
  return authoritiesIn(ca).some((issuer) => {
    if (!isValid(issuer, now) || !isForServers(issuer)) return false;
    return leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey);
  });
}

const kept = new Map<string, readonly X509Certificate[]>();
let characters = 0;

function authoritiesIn(ca: string): readonly X509Certificate[] {
  const known = kept.get(ca);
  if (known) return known;
  const found = read(ca);
  characters += ca.length;
  kept.set(ca, found);
  for (const oldest of kept.keys()) {
    if (kept.size <= mostKept && characters <= mostCharacters) break;
    kept.delete(oldest);
    characters -= oldest.length;
  }
  return found;
}

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

/** The first of them that are authorities here. What cannot be read is none, as OpenSSL and Go have it. */
function read(ca: string): X509Certificate[] {
  const found: X509Certificate[] = [];
  let from = ca.indexOf(begin);
  for (let looked = 0; from >= 0 && looked < mostLookedAt; looked++) {
    const to = ca.indexOf(end, from);
    if (to < 0) break;
    try {
      const issuer = new X509Certificate(ca.slice(from, to + end.length));
      if (issuer.ca && !narrows(issuer)) found.push(issuer);
    } catch {
      // None.
    }
    from = ca.indexOf(begin, to);
  }
  return found;
}

/** By their encoded object identifiers: what Go's verifier takes no signature of, with MD2, MD5, SHA-1, also of elliptic curves, and DSA's. */
const weak = [
  ...[2, 3, 4, 5].map((n) => [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, n]),
  [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01],
  [0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x03],
  [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x02],
].map((bytes) => Buffer.from([0x06, bytes.length, ...bytes]));

/** A certificate is its contents, how it was signed, and the signature: RFC 5280, 4.1. */
function isSoundlySigned({ raw }: X509Certificate): boolean {
  const { body } = elementAt(raw, 0);
  const contents = elementAt(raw, body);
  const algorithm = elementAt(raw, contents.next);
  const how = raw.subarray(algorithm.body, algorithm.next);
  return !weak.some((one) => how.subarray(0, one.length).equals(one));
}

const nameConstraints = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x1e]);

/** Whether it may vouch for some names only. Nobody here compares those: it vouches for none, where OpenSSL does not take it by itself. */
function narrows({ raw }: X509Certificate): boolean {
  return raw.includes(nameConstraints);
}

/** One element of DER: where what it holds begins, and what follows it. */
function elementAt(der: Buffer, at: number): { body: number; next: number } {
  const first = der.readUInt8(at + 1);
  if (first < 0x80) return { body: at + 2, next: at + 2 + first };
  const bytes = first & 0x7f;
  const body = at + 2 + bytes;
  return { body, next: body + der.readUIntBE(at + 2, bytes) };
}

function isValid({ validFrom, validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
}

const serverAuth = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

/** Node calls what a certificate is for by extension the usage of its key. */
function isForServers({ keyUsage }: X509Certificate): boolean {
  return keyUsage === undefined || keyUsage.some((usage) => serverAuth.includes(usage));
}
