import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { createAuthority } from '../../../../apiserver/tls/ca.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = { publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string, seconds: 3600 };

/** Names that would mean something else in a text, or did in one of the forms that a subject is written in. */
it.each([
  // DER for a UTF8String: system:masters.
  ['#0c0e73797374656d3a6d617374657273'],
  ['a, O=system:masters'],
  ['a+O=system:masters'],
  ['a\\'],
  ['"a"'],
  [' a '],
  ['Ä=ß<>;'],
])('%s: a certificate says exactly the user and the group that were asked for', async (name) => {
  const authority = await createAuthority('test');
  const certificate = await authority.signClient(name, [name, 'second'], key);
  const { subject } = new X509Certificate(certificate).toLegacyObject();
  expect(subject).toEqual(expect.objectContaining({ CN: name, O: [name, 'second'] }));
});

it("a client's key is in the form that every client reads, and is its certificate's", async () => {
  const { certificate, privateKey } = await (await createAuthority('test')).issueClient('ann', []);
  expect(privateKey).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
  expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))).toBe(true);
});
