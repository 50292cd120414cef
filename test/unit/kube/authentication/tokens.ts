import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface Signer {
  alg: string;
  kid: string;
  privateKey: KeyObject;
  jwk: object;
}

export function signer(alg: string, kid: string): Signer {
  const curve = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[alg];
  const { privateKey, publicKey } = curve
    ? generateKeyPairSync('ec', { namedCurve: curve })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { alg, kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } };
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

export function token(by: Signer, claims: object, head: object = {}): string {
  const signed = `${encode({ alg: by.alg, kid: by.kid, ...head })}.${encode(claims)}`;
  const how = {
    E: { key: by.privateKey, dsaEncoding: 'ieee-p1363' as const },
    R: { key: by.privateKey, padding: constants.RSA_PKCS1_PADDING },
    P: {
      key: by.privateKey,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    },
  }[by.alg.charAt(0) as 'E' | 'R' | 'P'];
  return `${signed}.${sign(`sha${by.alg.slice(2)}`, Buffer.from(signed), how).toString('base64url')}`;
}
