import { createCipheriv, createDecipheriv, createHmac, randomFillSync } from 'node:crypto';
import type { EncryptionKey } from '../../kube/encryption/types.ts';
import type { Provider } from './transformer.ts';

const infoLength = 32;
const nonceLength = 12;
const tagLength = 16;
const algorithm = 'aes-256-gcm';
/** Of HKDF-Expand: its first block is all that is needed. */
const firstBlock = Buffer.from([1]);

/** The provider of a key that is in the configuration. */
export function aesgcm({ name, secret }: EncryptionKey): Provider {
  return {
    prefix: Buffer.from(`atoll:enc:aesgcm:v1:${name}:`),
    ...seeded(Buffer.from(secret, 'base64')),
  };
}

/**
 * AES-256-GCM by a key that is derived for each value: info (random), nonce (random), ciphertext, tag. The seed
 * therefore wears out by no number of writes: docs/decisions/0032-encryption-at-rest.md.
 */
export function seeded(seed: Uint8Array): Pick<Provider, 'seal' | 'open'> {
  const derived = (info: Uint8Array) => createHmac('sha256', seed).update(info).update(firstBlock).digest();
  return {
    seal(plain, bound) {
      const head = randomFillSync(Buffer.allocUnsafe(infoLength + nonceLength));
      const info = head.subarray(0, infoLength);
      const cipher = createCipheriv(algorithm, derived(info), head.subarray(infoLength));
      cipher.setAAD(bound);
      return [head, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
    },
    open(sealed, bound) {
      const start = infoLength + nonceLength;
      const end = sealed.length - tagLength;
      if (end < start) throw new Error('the stored data was shorter than the required size');
      const key = derived(sealed.subarray(0, infoLength));
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(infoLength, start), {
        authTagLength: tagLength,
      });
      decipher.setAAD(bound);
      decipher.setAuthTag(sealed.subarray(end));
      const plain = decipher.update(sealed.subarray(start, end));
      try {
        decipher.final();
      } catch {
        throw new Error('cipher: message authentication failed');
      }
      return plain;
    },
  };
}
