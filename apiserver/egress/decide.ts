import { isIP } from 'node:net';
import { addressBits, parseRange, type Range } from '../../kube/validation/ip.ts';

/** Why an address is not dialled. `own`: this server listens there; `denied`: the administrator says so. */
export type Refusal =
  | 'loopback'
  | 'link-local'
  | 'metadata'
  | 'unspecified'
  | 'multicast'
  | 'reserved'
  | 'own'
  | 'denied';

/** What the administrator says of the addresses that users name: CIDRs. What is allowed is so whatever else is said. */
export interface EgressRules {
  allow: readonly string[];
  deny: readonly string[];
}

export interface EgressPolicy {
  allow: readonly Range[];
  deny: readonly Range[];
  /** Of what is refused without being denied: what is dialled all the same. */
  pardoned: ReadonlySet<Refusal>;
}

/** Where this server listens: at these ports of these addresses. */
export interface Own {
  ports: ReadonlySet<number>;
  addresses: readonly string[];
}

/** Throws where a rule is no CIDR. */
export function policyOf(rules: EgressRules, pardoned: readonly Refusal[] = []): EgressPolicy {
  return { allow: rules.allow.map(rangeOf), deny: rules.deny.map(rangeOf), pardoned: new Set(pardoned) };
}

function rangeOf(text: string): Range {
  const range = parseRange(text);
  if (range === undefined) throw new Error(`${text} is no CIDR`);
  return range;
}

interface Bits {
  bits: bigint;
  width: number;
}

/** The first that an address is within counts. */
const refused: readonly (readonly [Range, Refusal])[] = (
  [
    // Of AWS, GCP, Azure, Oracle, Alibaba and Scaleway: who may ask there has the machine's own rights.
    [
      'metadata',
      '169.254.169.254/32 169.254.170.2/32 168.63.129.16/32 192.0.0.192/32 100.100.100.200/32 fd00:ec2::254/128 fd20:ce::254/128 fd00:42::42/128',
    ],
    ['loopback', '127.0.0.0/8 ::1/128'],
    ['unspecified', '0.0.0.0/8 ::/128'],
    ['link-local', '169.254.0.0/16 fe80::/10'],
    ['multicast', '224.0.0.0/4 ff00::/8'],
    ['reserved', '240.0.0.0/4'],
  ] as const
).flatMap(([why, ranges]) => ranges.split(' ').map((range) => [rangeOf(range), why] as const));

/**
 * Whether a connection to that port of an address may be made: undefined, or why not. An IPv6 address in which an IPv4
 * address stands counts as both.
 */
export function refusalOf(
  address: string,
  port: number,
  policy: EgressPolicy,
  own: Own,
): Refusal | undefined {
  const [plain = ''] = address.split('%', 1);
  if (isIP(plain) === 0) return 'reserved';
  const whole = addressBits(plain);
  for (const one of [whole, ...embedded(whole)]) {
    const why = refusalOfOne(one, port, policy, own);
    if (why !== undefined) return why;
  }
  return undefined;
}

function refusalOfOne(one: Bits, port: number, policy: EgressPolicy, own: Own): Refusal | undefined {
  const allowed = policy.allow.filter((range) => within(one, range));
  // A range is not meant for ourselves, an address by itself is.
  const byItself = allowed.some(({ prefix, width }) => prefix === width);
  if (!byItself && !policy.pardoned.has('own') && isOwn(one, port, own)) return 'own';
  if (allowed.length > 0) return undefined;
  if (policy.deny.some((range) => within(one, range))) return 'denied';
  const why = classOf(one) ?? (isHere(one, own) ? 'loopback' : undefined);
  return why === undefined || policy.pardoned.has(why) ? undefined : why;
}

function classOf(one: Bits): Refusal | undefined {
  return refused.find(([range]) => within(one, range))?.[1];
}

function isOwn(one: Bits, port: number, own: Own): boolean {
  if (!own.ports.has(port)) return false;
  const why = classOf(one);
  return why === 'loopback' || why === 'unspecified' || isHere(one, own);
}

/** What listens on all addresses of this machine is reached by any of them. */
function isHere(one: Bits, { addresses }: Own): boolean {
  return addresses.some((address) => {
    const { bits, width } = addressBits(address.split('%', 1)[0] ?? '');
    return bits === one.bits && width === one.width;
  });
}

function within({ bits, width }: Bits, range: Range): boolean {
  const shift = BigInt(range.width - range.prefix);
  return width === range.width && bits >> shift === range.bits >> shift;
}

const low32 = (bits: bigint): bigint => bits & 0xffff_ffffn;

/** Each IPv4 address to which a packet for that IPv6 address may be carried. */
const forms = (
  [
    // Mapped, translated (RFC 2765) and compatible.
    ['::ffff:0:0/96', (bits) => [low32(bits)]],
    ['::ffff:0:0:0/96', (bits) => [low32(bits)]],
    ['::/96', (bits) => (bits > 1n ? [low32(bits)] : [])],
    // NAT64 (RFC 6052), and that of one's own network (RFC 8215), where the address may stand in two places.
    ['64:ff9b::/96', (bits) => [low32(bits)]],
    [
      '64:ff9b:1::/48',
      (bits) =>
        [low32(bits), ((bits >> 48n) & 0xffff_0000n) | ((bits >> 40n) & 0xffffn)].filter((one) => one > 0n),
    ],
    // 6to4; Teredo: the server's, and the client's with each bit turned over.
    ['2002::/16', (bits) => [low32(bits >> 80n)]],
    ['2001::/32', (bits) => [low32(bits >> 64n), low32(bits) ^ 0xffff_ffffn]],
  ] satisfies [string, (bits: bigint) => bigint[]][]
).map(([range, read]) => [rangeOf(range), read] as const);

function embedded(one: Bits): Bits[] {
  if (one.width === 32) return [];
  const found = forms.flatMap(([range, read]) => (within(one, range) ? read(one.bits) : []));
  // ISATAP (RFC 5214), in any network.
  if (((one.bits >> 32n) & 0xfdff_ffffn) === 0x5efen) found.push(low32(one.bits));
  return found.map((bits) => ({ bits, width: 32 }));
}
