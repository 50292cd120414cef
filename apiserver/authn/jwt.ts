import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { signatureIn } from '../../kube/authentication/jws.ts';
import { isRecord } from '../../kube/untyped.ts';

/** A JSON Web Key (RFC 7517) of an elliptic curve. */
export interface PublicKey {
  use: 'sig';
  kty: string;
  kid: string;
  crv: string;
  alg: 'ES256';
  x: string;
  y: string;
}

export type Claims = Record<string, unknown>;

/** Signs and verifies JSON Web Tokens with one ECDSA P-256 key (ES256, RFC 7518). */
export class TokenKey {
  readonly #private: KeyObject;
  readonly #public: KeyObject;
  /** By which a token names it. */
  readonly id: string;
  readonly pem: string;

  /** @param pem the private key, PKCS #8. */
  constructor(pem: string) {
    this.pem = pem;
    this.#private = createPrivateKey(pem);
    this.#public = createPublicKey(this.#private);
    const der = this.#public.export({ type: 'spki', format: 'der' });
    this.id = createHash('sha256').update(der).digest('base64url');
  }

  /** Of the key that a token says it is signed with, in the one way that there is. */
  static idIn(token: string): string | undefined {
    const header = decode(token.slice(0, token.indexOf('.')));
    return header?.['alg'] === 'ES256' && typeof header['kid'] === 'string' ? header['kid'] : undefined;
  }

  publicKey(): PublicKey {
    const { kty = '', crv = '', x = '', y = '' } = this.#public.export({ format: 'jwk' });
    return { use: 'sig', kty, kid: this.id, crv, alg: 'ES256', x, y };
  }

  sign(claims: Claims): string {
    const head = encode({ alg: 'ES256', kid: this.id });
    const signed = `${head}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#private, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  /** The claims of a token that this key signed; times are the caller's to check. */
  verify(token: string): Claims | undefined {
    const [head = '', body = '', signature = '', ...more] = token.split('.');
    const signed = signatureIn(signature);
    if (more.length > 0 || signature === '' || signed === undefined) return undefined;
    const header = decode(head);
    if (header?.['alg'] !== 'ES256' || header['kid'] !== this.id) return undefined;
    const key = { key: this.#public, dsaEncoding: 'ieee-p1363' as const };
    const good = verify('sha256', Buffer.from(`${head}.${body}`), key, signed);
    return good ? decode(body) : undefined;
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(text: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a token says, whoever signed it. */
export function claimsIn(token: string): Claims | undefined {
  const [, body = '', signature] = token.split('.');
  return signature === undefined ? undefined : decode(body);
}
