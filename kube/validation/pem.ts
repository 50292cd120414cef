import { createPublicKey, type KeyObject, verify } from 'node:crypto';

/** One element of DER: its tag, its content, and where the next begins. */
interface Element {
  tag: number;
  whole: Buffer;
  content: Buffer;
  end: number;
}

const malformed = 'x509: malformed certificate request';
const truncated = 'asn1: syntax error: data truncated';

function element(bytes: Buffer, at: number): Element {
  const tag = bytes[at];
  let length = bytes[at + 1];
  if (tag === undefined || length === undefined) throw new Error(truncated);
  let start = at + 2;
  if (length >= 0x80) {
    const size = length & 0x7f;
    if (size === 0 || size > 4) throw new Error('asn1: syntax error: indefinite length found (not DER)');
    if (start + size > bytes.length) throw new Error(truncated);
    length = bytes.readUIntBE(start, size);
    start += size;
  }
  const end = start + length;
  if (end > bytes.length) throw new Error(truncated);
  return { tag, whole: bytes.subarray(at, end), content: bytes.subarray(start, end), end };
}

function children(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; at = found.at(-1)?.end ?? bytes.length) found.push(element(bytes, at));
  return found;
}

/** Object identifiers of signatures, in hexadecimal DER, and the hash of each; Ed25519 hashes for itself. */
const hashes: Readonly<Record<string, string | null>> = {
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2b6570': null,
};

export interface PemBlock {
  type: string;
  bytes: Buffer;
  hasHeaders: boolean;
}

/** At the start of a line, as signers read it. */
const begin = /^-----BEGIN ([^\n-]*)-----\r?\n/gm;

/** The blocks of a text in PEM, in their order, up to one that has no end. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  const from = new RegExp(begin);
  for (let found = from.exec(text); found !== null; found = from.exec(text)) {
    const [, type = ''] = found;
    // The line break before an empty body is that of the first line.
    const end = text.indexOf(`\n-----END ${type}-----`, from.lastIndex - 1);
    if (end < 0) return blocks;
    const body = text.slice(from.lastIndex, end + 1);
    blocks.push({ type, bytes: Buffer.from(body, 'base64'), hasHeaders: body.includes(':') });
    from.lastIndex = end + 1;
  }
  return blocks;
}

/** Why a text is no signed PKCS #10 request in PEM, undefined when it is one. */
export function requestProblem(text: string): string | undefined {
  const [first] = pemBlocks(text);
  // Of several, signers may not take the same one.
  if (first?.type !== 'CERTIFICATE REQUEST' || text.split('-----BEGIN').length !== 2)
    return 'PEM block type must be CERTIFICATE REQUEST';
  try {
    return signatureProblem(first.bytes);
  } catch (error) {
    return error instanceof Error && error.message.startsWith('asn1') ? error.message : malformed;
  }
}

function signatureProblem(der: Buffer): string | undefined {
  const whole = element(der, 0);
  if (whole.end !== der.length) return 'asn1: syntax error: trailing data';
  const [signed, algorithm, signature] = children(whole.content);
  const key = signed && children(signed.content)[2];
  const oid = algorithm && children(algorithm.content)[0]?.content.toString('hex');
  if (!signed || !key || !signature || oid === undefined) return malformed;
  if (!Object.hasOwn(hashes, oid)) return 'x509: cannot verify signature: algorithm unimplemented';
  const problem = curveProblem(key);
  if (problem !== undefined) return problem;
  const publicKey = createPublicKey({ key: key.whole, format: 'der', type: 'spki' });
  const unfit = keyProblem(publicKey, oid);
  if (unfit !== undefined) return unfit;
  const good = verify(hashes[oid] ?? null, signed.whole, publicKey, signature.content.subarray(1));
  if (good) return undefined;
  return publicKey.asymmetricKeyType === 'rsa'
    ? 'crypto/rsa: verification error'
    : `x509: ${publicKey.asymmetricKeyType === 'ec' ? 'ECDSA' : 'Ed25519'} verification failure`;
}

/** Elliptic curves by their identifiers: P-224, P-256, P-384, P-521. */
const curves = ['2b81040021', '2a8648ce3d030107', '2b81040022', '2b81040023'];
const ellipticKey = '2a8648ce3d0201';

/** Of a key on a curve: what is no well-known one, or is told by its numbers. */
function curveProblem(key: Element): string | undefined {
  const [algorithm] = children(key.content);
  const [type, parameters] = algorithm ? children(algorithm.content) : [];
  if (type?.content.toString('hex') !== ellipticKey) return undefined;
  if (parameters?.tag !== 6) return 'x509: invalid ECDSA parameters';
  return curves.includes(parameters.content.toString('hex')) ? undefined : 'x509: unsupported elliptic curve';
}

const leastBits = 1024;

/** Signatures by how their identifiers begin: of which keys they are. */
const signers = [
  { begins: '2a864886f70d0101', key: 'rsa', name: 'RSA', type: '*rsa.PublicKey' },
  { begins: '2a8648ce3d04', key: 'ec', name: 'ECDSA', type: '*ecdsa.PublicKey' },
  { begins: '2b6570', key: 'ed25519', name: 'Ed25519', type: 'ed25519.PublicKey' },
];

function keyProblem({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, oid: string): string | undefined {
  const signer = signers.find(({ begins }) => oid.startsWith(begins));
  if (signer?.key !== asymmetricKeyType) {
    const have = signers.find(({ key }) => key === asymmetricKeyType)?.type ?? '<nil>';
    return `x509: signature algorithm specifies an ${signer?.name} public key, but have public key of type ${have}`;
  }
  const bits = asymmetricKeyDetails?.modulusLength ?? leastBits;
  if (bits >= leastBits) return undefined;
  return `crypto/rsa: ${bits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`;
}

const [commonName, organization] = ['550403', '55040a'];

/** How the text of a name is written, by its tag. */
const texts: Readonly<Record<number, (bytes: Buffer) => string>> = {
  12: (bytes) => bytes.toString('utf8'),
  19: (bytes) => bytes.toString('latin1'),
  20: (bytes) => bytes.toString('latin1'),
  22: (bytes) => bytes.toString('latin1'),
  30: (bytes) =>
    Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le'),
};

/** The organizations of a request's subject, which are groups. Throws where it is no PKCS #10 request in PEM. */
export function organizationsOf(request: string): string[] {
  return namesIn(signedPart(request), organization);
}

/** Who asks for a certificate, and for what key, SPKI in PEM. Throws where it is no PKCS #10 request in PEM. */
export function askedIn(request: string): { user: string; groups: string[]; publicKey: string } {
  const signed = signedPart(request);
  const key = signed[2];
  if (key === undefined) throw new Error(malformed);
  const publicKey = createPublicKey({ key: key.whole, format: 'der', type: 'spki' });
  return {
    user: namesIn(signed, commonName).at(-1) ?? '',
    groups: namesIn(signed, organization),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** Its version, its subject, its key, what else it asks for. */
function signedPart(request: string): Element[] {
  const [first] = pemBlocks(request);
  const [signed] = first ? children(element(first.bytes, 0).content) : [];
  if (signed === undefined) throw new Error(malformed);
  return children(signed.content);
}

function namesIn([, subject]: readonly Element[], oid: string): string[] {
  if (subject === undefined) throw new Error(malformed);
  return children(subject.content)
    .flatMap((set) => children(set.content))
    .flatMap((pair) => {
      const [type, value] = children(pair.content);
      const isOne = type?.content.toString('hex') === oid;
      const text = isOne && value ? texts[value.tag]?.(value.content) : undefined;
      return text === undefined ? [] : [text];
    });
}
