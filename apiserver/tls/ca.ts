import 'reflect-metadata';
import { createHash, KeyObject, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { keyForm } from '../../kube/kubeconfig.ts';

/** PEM. */
export interface Issued {
  certificate: string;
  privateKey: string;
}

/** Signs the server's certificate and its clients'. ECDSA P-256. */
export interface Authority extends Issued {
  /** For DNS names and IP addresses. */
  issueServer(names: readonly string[]): Promise<Issued>;
  /** The common name is the user, the organisations are its groups, as Kubernetes reads them. */
  issueClient(user: string, groups: readonly string[]): Promise<Issued>;
  /** The same, for a key that its owner keeps: `publicKey` is PEM, SPKI. The certificate in PEM. */
  signClient(
    user: string,
    groups: readonly string[],
    request: { publicKey: string; seconds: number; cluster?: string | undefined },
  ): Promise<string>;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const day = 86_400_000;
const lifetimeDays = { authority: 3650, leaf: 365 };

x509.cryptoProvider.set(webcrypto as never);

/** A new authority; the caller keeps its PEMs. */
export async function createAuthority(commonName: string, now = Date.now): Promise<Authority> {
  const keys = await generate();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${commonName}`,
    ...validity(lifetimeDays.authority, now()),
    signingAlgorithm: algorithm,
    keys: keys as never,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey as never),
    ],
  });
  const pems = { certificate: certificate.toString('pem'), privateKey: await pemOf(keys.privateKey) };
  return loadAuthority(pems, now);
}

export async function loadAuthority(pems: Issued, now = Date.now): Promise<Authority> {
  const issuer = new x509.X509Certificate(pems.certificate);
  const signingKey = await keyOf(pems.privateKey);
  const sign = async (
    subject: x509.Name,
    request: { publicKey: unknown; days: number; usage: x509.ExtendedKeyUsage; backdate?: number },
    extensions: x509.Extension[] = [],
  ): Promise<string> => {
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serial(),
      subject,
      issuer: issuer.subject,
      ...validity(request.days, now(), request.backdate),
      signingAlgorithm: algorithm,
      publicKey: request.publicKey as never,
      signingKey: signingKey as never,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([request.usage]),
        await x509.AuthorityKeyIdentifierExtension.create(issuer),
        ...extensions,
      ],
    });
    return certificate.toString('pem');
  };
  const issue = async (
    subject: x509.Name,
    extensions: x509.Extension[],
    usage: x509.ExtendedKeyUsage,
  ): Promise<Issued> => {
    const { publicKey, privateKey } = await generate();
    const certificate = await sign(subject, { publicKey, days: lifetimeDays.leaf, usage }, extensions);
    return { certificate, privateKey: KeyObject.from(privateKey).export(keyForm).toString() };
  };
  return {
    ...pems,
    signClient: async (user, groups, { publicKey, seconds, cluster }) => {
      const days = (seconds * 1000) / day;
      const usage = x509.ExtendedKeyUsage.clientAuth;
      return sign(subjectOf(user, groups, cluster), {
        publicKey: new x509.PublicKey(publicKey),
        days,
        usage,
        // As Kubernetes does: one may be asked for that lasts ten minutes.
        backdate: day / 288,
      });
    },
    issueServer: (names) => {
      // Never the issuer's own name: OpenSSL would take the certificate for a self-signed one.
      return issue(
        subjectOf(`server of ${issuer.subject.replace(/^CN=/, '')}`, []),
        [alternativeNames(names)],
        x509.ExtendedKeyUsage.serverAuth,
      );
    },
    issueClient: (user, groups) => issue(subjectOf(user, groups), [], x509.ExtendedKeyUsage.clientAuth),
  };
}

function alternativeNames(names: readonly string[]): x509.SubjectAlternativeNameExtension {
  return new x509.SubjectAlternativeNameExtension(
    names.map((name) => ({ type: isIP(name) ? ('ip' as const) : ('dns' as const), value: name })),
  );
}

/** Each as it is: a name in a text would have to be escaped, and what begins with # be read as encoded bytes. */
function subjectOf(commonName: string, organisations: readonly string[], cluster?: string): x509.Name {
  const exactly = (utf8String: string) => [{ utf8String }];
  const parts = organisations.map((name) => ({ O: exactly(name) }));
  const units = cluster === undefined ? [] : [{ OU: exactly(`cluster:${cluster}`) }];
  return new x509.Name([...parts, ...units, { CN: exactly(commonName) }]);
}

/** Since a while ago, for clocks that are not quite in step. */
function validity(days: number, now: number, backdate = day / 24): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - backdate), notAfter: new Date(now + days * day) };
}

/** Positive and 19 bytes long, as RFC 5280 asks. */
function serial(): string {
  const random = webcrypto.getRandomValues(new Uint8Array(32));
  return `01${createHash('sha256').update(random).digest('hex').slice(0, 36)}`;
}

function generate(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ]) as Promise<webcrypto.CryptoKeyPair>;
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = await webcrypto.subtle.exportKey('pkcs8', key as never);
  return x509.PemConverter.encode(bytes as ArrayBuffer, 'PRIVATE KEY');
}

async function keyOf(pem: string): Promise<webcrypto.CryptoKey> {
  const [der] = x509.PemConverter.decode(pem);
  const usages: webcrypto.KeyUsage[] = ['sign'];
  return await webcrypto.subtle.importKey('pkcs8', der as ArrayBuffer, algorithm, true, usages);
}
