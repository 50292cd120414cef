import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Issued } from '../apiserver/tls/ca.ts';
import { parseEtcdUrl } from '../storage/etcd/url.ts';

/** The administrator's own certificate, PEM: `tls-cert-file` and `tls-private-key-file`. */
export interface CertificateFiles {
  certificate: string;
  privateKey: string;
}

/** Between when and when it counts, in milliseconds since 1970. */
export interface Validity {
  from: number;
  until: number;
}

/** Throws Error for what is none to serve with. */
export async function readServing({ certificate, privateKey }: CertificateFiles): Promise<Issued> {
  const [cert, key] = await Promise.all([readFile(certificate, 'utf8'), readFile(privateKey, 'utf8')]);
  if (!certificateIn(cert).checkPrivateKey(keyIn(key, privateKey)))
    throw new Error(`the key in ${privateKey} is another one's`);
  // What follows the first may be half written.
  createSecureContext({ cert, key });
  return { certificate: cert, privateKey: key };
}

/** PEM. Throws Error for what is no certificate. */
export async function readAuthority(file: string): Promise<string> {
  const pem = await readFile(file, 'utf8');
  validityOf(pem);
  return pem;
}

/** Of the one in the PEM that expires first. Throws Error where there is none. */
export function validityOf(pem: string): Validity {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [pem];
  const all = blocks.map((block) => {
    const { validFrom, validTo } = certificateIn(block);
    return { from: Date.parse(validFrom), until: Date.parse(validTo) };
  });
  return all.reduce((first, one) => (one.until < first.until ? one : first));
}

/** The file with the certificate that etcd is shown, where the store's URL names one. */
export function etcdCertificate(storage: string): string | undefined {
  const [, rest] = /^etcd:(.*)$/s.exec(storage) ?? [];
  return rest === undefined ? undefined : parseEtcdUrl(rest).files.cert;
}

function keyIn(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new Error(`${file} has no private key, or one that takes a password`, { cause });
  }
}

function certificateIn(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Error('it has no certificate', { cause });
  }
}
