import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isRecord, records, text } from '../untyped.ts';
import { type Claims, TokenError } from './user.ts';

/** A JSON Web Token in three parts (RFC 7515), of which nothing is verified yet. */
export interface Jws {
  alg: string;
  kid: string;
  claims: Claims;
  signed: Buffer;
  signature: Buffer;
}

/** A public key that may have signed it. */
export interface VerifyingKey {
  kid: string;
  alg: string;
  type: string;
  curve: string;
  key: KeyObject;
}

const longest = 64 * 1024;

/** The bytes of a signature, which is spelled in one way: nobody changes a bit of a token that says nothing. */
export function signatureIn(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
}

/** Undefined: it is no token of this form. */
export function parseJws(token: string): Jws | undefined {
  if (token.length > longest || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  const [head = '', body = '', signature = ''] = token.split('.');
  const [header, claims] = [decode(head), decode(body)];
  const bytes = signatureIn(signature);
  // An extension that must be understood is not.
  if (header === undefined || claims === undefined || header['crit'] !== undefined) return undefined;
  if (bytes === undefined) return undefined;
  return {
    alg: text(header['alg']),
    kid: text(header['kid']),
    claims,
    signed: Buffer.from(`${head}.${body}`),
    signature: bytes,
  };
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const mostKeys = 100;

/** Those of a JSON Web Key Set (RFC 7517) that can verify; others are left out. */
export function keysOf(set: unknown): VerifyingKey[] {
  const list = isRecord(set) ? records(set['keys']) : [];
  return list.slice(0, mostKeys).flatMap((jwk) => {
    const use = text(jwk['use']);
    if (!['RSA', 'EC'].includes(text(jwk['kty'])) || (use !== '' && use !== 'sig')) return [];
    try {
      const key = createPublicKey({ key: jwk as never, format: 'jwk' });
      const short = key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) < 2048;
      if (short) return [];
      return [
        {
          kid: text(jwk['kid']),
          alg: text(jwk['alg']),
          type: text(jwk['kty']),
          curve: text(jwk['crv']),
          key,
        },
      ];
    } catch {
      return [];
    }
  });
}

const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

/** Whether that key signed it, in the way that it says: none of those by which a key is shared. */
export function isSignedBy({ alg, kid, signed, signature }: Jws, key: VerifyingKey): boolean {
  const [, family = '', bits = ''] = /^(RS|PS|ES)(256|384|512)$/.exec(alg) ?? [];
  if (family === '' || (key.alg !== '' && key.alg !== alg) || (kid !== '' && key.kid !== kid)) return false;
  if (family === 'ES' ? key.curve !== curves[alg] : key.type !== 'RSA') return false;
  const how = {
    RS: { key: key.key, padding: constants.RSA_PKCS1_PADDING },
    PS: {
      key: key.key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    },
    ES: { key: key.key, dsaEncoding: 'ieee-p1363' as const },
  }[family as 'RS' | 'PS' | 'ES'];
  return verify(`sha${bits}`, signed, how, signature);
}

/** A clock that is behind by so much is none to refuse for. */
const leewaySeconds = 60;

/** Throws TokenError for one that is not meant for us, or not now. */
export function checkTimes(claims: Claims, audiences: readonly string[], now: number): void {
  const seconds = now / 1000;
  const meant = [claims['aud']].flat().some((one) => typeof one === 'string' && audiences.includes(one));
  if (!meant) throw new TokenError(`expected audience in ${JSON.stringify(audiences)}`);
  const { exp, nbf } = claims;
  if (typeof exp !== 'number' || !(exp > seconds)) throw new TokenError('token is expired');
  if (nbf === undefined) return;
  if (typeof nbf !== 'number' || !(nbf <= seconds + leewaySeconds))
    throw new TokenError('token is not valid yet');
}
