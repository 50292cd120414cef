import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { credentialsUntil } from '../../../server/cluster-credentials.ts';
import { clusterFamilies } from '../../../server/metrics/clusters.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const kubeconfig = (user: object, more: object = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://c:6443', ...more } }],
    users: [
      { name: 'another', user: { token: token({ exp: 1 }) } },
      { name: 'u', user },
    ],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
const token = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

const { issueClient } = await createAuthority('a');
const { certificate } = await issueClient('u', []);
const expiry = Date.parse(new X509Certificate(certificate).validTo);
const shown = { 'client-certificate-data': base64(certificate) };
const soon = 1_800_000_000;

it.each([
  ['a certificate', kubeconfig(shown), expiry],
  ['a token that says it', kubeconfig({ token: token({ exp: soon }) }), soon * 1000],
  ['both, by the first', kubeconfig({ ...shown, token: token({ exp: 1 }) }), 1000],
  ['a certificate, to a cluster behind a proxy', kubeconfig(shown, { 'proxy-url': 'http://p:1' }), expiry],
  [
    'a certificate, as minikube writes it',
    kubeconfig(shown, { extensions: [{ name: 'cluster_info' }] }),
    expiry,
  ],
  ['a password beside a certificate', kubeconfig({ ...shown, username: 'u', password: 'p' }), expiry],
  ['a command', kubeconfig({ exec: { command: 'aws' } }), undefined],
  ['a token that does not', kubeconfig({ token: token({ sub: 'u' }) }), undefined],
  ['a token that is a word', kubeconfig({ token: 'secret' }), undefined],
  ['a token that looks as if', kubeconfig({ token: 'a.b.c' }), undefined],
  ['what is no certificate', kubeconfig({ 'client-certificate-data': base64('x') }), undefined],
  ['what is no kubeconfig', 'x', undefined],
])('until when a cluster lets in whoever has %s', (_what, text, until) => {
  expect(credentialsUntil(text)).toBe(until);
});

it('is told in seconds, of those clusters of which it is known', () => {
  const named = (name: string) => ({ metadata: { name } }) as PhysicalCluster;
  const clusters = () => [named('east'), named('west')];
  const until = (name: string) => (name === 'east' ? 5000 : undefined);
  const families = clusterFamilies({ clusters, credentialsUntil: until }, 0);
  const told = families.find(({ definition }) => /credentials/.test(definition.name));
  expect(told?.figures).toEqual([{ labels: ['east'], value: 5 }]);
});
