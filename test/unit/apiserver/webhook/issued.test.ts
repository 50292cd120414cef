import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import * as x509 from '@peculiar/x509';
import { afterAll, expect, test } from 'vitest';
import { AggregationProxy } from '../../../../apiserver/aggregation/proxy.ts';
import { Egress } from '../../../../apiserver/egress/dial.ts';
import { WebhookCaller } from '../../../../apiserver/webhook/call.ts';
import { Contexts } from '../../../../apiserver/webhook/contexts.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
/** What knative gives its authority and what that signs alike. */
const name = 'O=knative.dev, CN=hook.ns.svc';
const [before, after] = [new Date(Date.now() - 60_000), new Date(Date.now() + 3_600_000)];
const valid = { notBefore: before, notAfter: after };
x509.cryptoProvider.set(webcrypto as never);

interface Made {
  keys: CryptoKeyPair;
  pem: string;
}
type CryptoKeyPair = Awaited<ReturnType<typeof keysOf>>;
const keysOf = async () =>
  (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as {
    privateKey: never;
    publicKey: never;
  };

async function authority(isAuthority = true, more: x509.Extension[] = []): Promise<Made> {
  const keys = await keysOf();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    ...valid,
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(isAuthority, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }]),
      ...more,
    ],
  });
  return { keys, pem: certificate.toString('pem') };
}

async function signed(
  by: Made,
  dates = valid,
  usage = x509.ExtendedKeyUsage.serverAuth,
  hash = 'SHA-256',
  host = 'localhost',
): Promise<Made> {
  const keys = await keysOf();
  const certificate = await x509.X509CertificateGenerator.create({
    subject: name,
    issuer: name,
    ...dates,
    signingAlgorithm: { ...algorithm, hash },
    publicKey: keys.publicKey,
    signingKey: by.keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.ExtendedKeyUsageExtension([usage]),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
    ],
  });
  return { keys, pem: certificate.toString('pem') };
}

const servers: https.Server[] = [];
const asked = { requests: 0, connections: 0 };
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

async function hook({ keys, pem }: Made): Promise<number> {
  const der = Buffer.from((await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)) as ArrayBuffer);
  const key = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
  const server = https.createServer({ key, cert: pem }, (request, response) => {
    asked.requests += 1;
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ kind: 'AdmissionReview', response: { allowed: true } }));
    });
  });
  server.on('connection', () => {
    asked.connections += 1;
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const egress = new Egress({ allow: ['127.0.0.0/8', '::1/128'], deny: [], ports: [] });
function ask(caller: WebhookCaller, port: number, ca: string, host = 'localhost'): Promise<unknown> {
  const config = { url: `https://${host}:${port}/`, ca };
  const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' };
  return caller.post({ cluster: 'a', config, timeoutSeconds: 10, review }, ({ response }) => response);
}
const callerOf = () =>
  new WebhookCaller(
    async (_, { url }) => ({ host: '127.0.0.1', port: Number(new URL(url ?? '').port) }),
    egress,
  );

test('a certificate that bears the name of the authority that signed it is taken, and its connection kept', async () => {
  const ca = await authority();
  const port = await hook(await signed(ca));
  const caller = callerOf();
  Object.assign(asked, { requests: 0, connections: 0 });
  for (let i = 0; i < 3; i++) expect(await ask(caller, port, ca.pem)).toEqual({ allowed: true });
  expect(asked).toEqual({ requests: 3, connections: 2 });
  caller.close();
});

const refusedOnes: readonly [why: string, made: () => Promise<{ leaf: Made; ca: Made; host?: string }>][] = [
  [
    'another of that name signed',
    async () => ({ leaf: await signed(await authority()), ca: await authority() }),
  ],
  ['it signed itself', async () => ({ leaf: await authority(false), ca: await authority() })],
  [
    'who signed it is no authority',
    async () => {
      const ca = await authority(false);
      return { leaf: await signed(ca), ca };
    },
  ],
  [
    'it is of another name',
    async () => {
      const ca = await authority();
      return { leaf: await signed(ca), ca, host: '127.0.0.1' };
    },
  ],
  [
    'its time is over',
    async () => {
      const ca = await authority();
      return { leaf: await signed(ca, { notBefore: new Date(0), notAfter: before }), ca };
    },
  ],
  [
    'it is for clients',
    async () => {
      const ca = await authority();
      return { leaf: await signed(ca, valid, x509.ExtendedKeyUsage.clientAuth), ca };
    },
  ],
  [
    'it was signed with SHA-1',
    async () => {
      const ca = await authority();
      return { leaf: await signed(ca, valid, x509.ExtendedKeyUsage.serverAuth, 'SHA-1'), ca };
    },
  ],
  [
    'who signed it is for clients',
    async () => {
      const ca = await authority(true, [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      ]);
      return { leaf: await signed(ca), ca };
    },
  ],
  [
    'who signed it may vouch for other names only',
    async () => {
      // permittedSubtrees: dNSName `other.example`.
      const names = Buffer.concat([
        Buffer.from([0x30, 17, 0xa0, 15, 0x30, 13, 0x82, 13]),
        Buffer.from('other.example'),
      ]);
      names[1] = names.length - 2;
      names[3] = names.length - 4;
      names[5] = names.length - 6;
      const ca = await authority(true, [new x509.Extension('2.5.29.30', true, names)]);
      return { leaf: await signed(ca), ca };
    },
  ],
];

test.each(refusedOnes)('it is refused, and sent nothing, where %s', async (_, made) => {
  const { leaf, ca, host } = await made();
  const port = await hook(leaf);
  const caller = callerOf();
  Object.assign(asked, { requests: 0, connections: 0 });
  for (let i = 0; i < 2; i++)
    await expect(ask(caller, port, ca.pem, host)).rejects.toThrow(/tls: |unsuitable certificate purpose/);
  expect(asked.requests).toBe(0);
  caller.close();
});

test('authorities that cannot be read are none', async () => {
  const [ca, other] = [await authority(), await authority()];
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const port = await hook(await signed(ca));
  const caller = callerOf();
  await expect(ask(caller, port, `${other.pem}\n${broken}`)).rejects.toThrow(/tls: /);
  expect(await ask(caller, port, `${other.pem}\n${broken}${ca.pem}`)).toEqual({ allowed: true });
  caller.close();
});

test('an API server of a logical cluster is taken by who signed for it, too, and asked at once from then on', async () => {
  const ca = await authority();
  const port = await hook(await signed(ca, valid, x509.ExtendedKeyUsage.serverAuth, 'SHA-256', 'b.a.svc'));
  const { keys, pem } = await authority();
  const der = Buffer.from((await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)) as ArrayBuffer);
  const privateKey = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
  const proxy = new AggregationProxy(
    {
      resolve: async () => ({ host: '127.0.0.1', port }),
      egress,
      forwards: undefined as never,
      millis: 10_000,
      closing: new AbortController().signal,
    },
    { certificate: async () => ({ certificate: pem, privateKey }) } as never,
  );
  const service = { service: { namespace: 'a', name: 'b', port: 443 }, insecure: false };
  const url = '/apis/g/v1/as';
  const exchange = {
    info: { cluster: 'root', verb: 'list', path: url, query: new URLSearchParams(), name: '' },
    request: { method: 'GET', url, headers: {} },
    user: { name: 'ann', groups: [] },
  };
  const answered = async (of: Made) => {
    const { body, status } = await proxy.ask(
      exchange as never,
      { ...service, ca: of.pem } as never,
      exchange.user,
    );
    if (!(body instanceof Uint8Array)) for await (const _ of body);
    return status;
  };
  Object.assign(asked, { requests: 0, connections: 0 });
  expect([await answered(ca), await answered(ca)]).toEqual([200, 200]);
  expect(asked).toEqual({ requests: 2, connections: 3 });
  expect(await answered(await authority()), 'another of that name').toBe(503);
  expect(asked.requests).toBe(2);
  proxy.close();
});

test('a bundle of authorities is read once, and of many the last are kept', async () => {
  const contexts = new Contexts();
  const { pem } = await authority();
  const first = contexts.of({ ca: pem });
  expect(contexts.of({ ca: pem })).toBe(first);
  expect(contexts.of({ ca: pem, cert: pem })).not.toBe(first);
  for (let i = 0; i < 5; i++) contexts.of({ ca: `${pem}${'#'.repeat(1 << 20)}${i}` });
  expect(contexts.of({ ca: pem }), 'others are as long as all may be').not.toBe(first);
});
