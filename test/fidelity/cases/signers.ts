import type { Case, Names, Request } from '../case.ts';
import { certificateRequests } from '../requests.ts';
import { as, bind, known, role, rule, silent, user } from './roles.ts';

const group = 'certificates.k8s.io';
const base = `/apis/${group}/v1/certificatesigningrequests`;
const plain = certificateRequests['system:mastersx'];

/** By those who may write the subresources of requests, and have the signer or not. */
export function signersCases(): Case[] {
  const signers: [string, string[], string[]][] = [
    ['none', ['get'], []],
    ['named', ['approve', 'sign'], ['example.com/signer']],
    ['domain', ['approve', 'sign'], ['example.com/*']],
    ['other', ['approve', 'sign'], ['example.com', 'example.com/other', '*/signer']],
    ['approve', ['approve'], []],
    ['sign', ['sign'], []],
  ];
  return signers.map(([id, verbs, resourceNames]) => ({
    id: `rbac/signers/${id}`,
    area: 'rbac' as const,
    ownNamespace: true,
    steps: (names: Names) => {
      const { name } = names;
      const more = resourceNames.length > 0 ? { resourceNames } : {};
      return [
        silent(made(name, 'example.com/signer', plain)),
        silent(
          role(
            '',
            `s-${name}`,
            rule([group], ['certificatesigningrequests', 'certificatesigningrequests/approval'], ['*']),
            rule([group], ['certificatesigningrequests/status'], ['*']),
            rule([group], ['signers'], verbs, more),
          ),
        ),
        silent(bind('', `s-${name}`, ['ClusterRole', `s-${name}`], user(name))),
        known(name, base),
        ...changes(name).map((request) => as(name, request)),
        ...creations(name),
      ];
    },
  }));
}

function made(name: string, signerName: string, request: string): Request {
  const body = {
    apiVersion: `${group}/v1`,
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { request, signerName, usages: ['client auth'] },
  };
  return { method: 'POST', path: base, body };
}

function changes(name: string): Request[] {
  const patch = (path: string, body: object): Request => ({
    method: 'PATCH',
    path: `${base}/${name}${path}`,
    contentType: 'application/merge-patch+json',
    body,
  });
  const condition = (type: string, status = 'True') => ({
    status: { conditions: [{ type, status, reason: 'R', message: 'm' }] },
  });
  return [
    patch('/status', { metadata: { labels: { a: 'b' } } }),
    patch('/status', condition('Other')),
    patch('/status', { status: { certificate: 'eA==' } }),
    patch('/approval?dryRun=All', condition('Approved')),
    patch('/approval?dryRun=All', condition('Denied')),
    patch('/approval', { metadata: { labels: { c: 'd' } } }),
    patch('/approval', { spec: { signerName: 'example.com/other' } }),
    patch('/approval', condition('Approved', 'False')),
    patch('/approval', condition('Approved')),
    patch('/status?dryRun=All', condition('Failed')),
    patch('', condition('Failed')),
  ];
}

function creations(name: string): Request[] {
  return [
    ...Object.values(certificateRequests).flatMap((request, i) =>
      ['kubernetes.io/kube-apiserver-client', 'kubernetes.io/kubelet-serving', 'example.com/signer'].flatMap(
        (signer, j) => [made(`${name}-${i}${j}`, signer, request)],
      ),
    ),
    { ...made('', 'kubernetes.io/kube-apiserver-client', 'eA=='), path: `${base}?dryRun=All` },
    made(`${name}-bad`, 'kubernetes.io/kube-apiserver-client', 'eA=='),
  ];
}
