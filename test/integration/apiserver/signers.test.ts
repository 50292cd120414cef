import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserInfo } from '../../../kube/http.ts';
import { organizationsOf } from '../../../kube/validation/pem.ts';
import { certificateRequests } from '../../fidelity/requests.ts';
import { type Api, call, startApi } from './api.ts';

const rbac = 'rbac.authorization.k8s.io';
const group = 'certificates.k8s.io';
const requests = `/apis/${group}/v1/certificatesigningrequests`;
const signer = 'example.com/signer';
const plain = certificateRequests['system:mastersx'];
const someone = (name: string): UserInfo => ({ name, groups: ['system:authenticated'] });

/** Which signers each may approve and sign for. */
const holders: Readonly<Record<string, string[]>> = {
  none: ['example.com/other', 'example.com', '*/signer'],
  named: [signer],
  domain: ['example.com/*'],
};

let api: Api;
beforeAll(async () => {
  api = startApi();
  for (const [name, resourceNames] of Object.entries(holders)) {
    const all = {
      apiGroups: [group],
      resources: ['certificatesigningrequests', '*/approval', '*/status'],
      verbs: ['*'],
    };
    const signers = { apiGroups: [group], resources: ['signers'], verbs: ['approve', 'sign'], resourceNames };
    const at = `/apis/${rbac}/v1`;
    await api.call('POST', `${at}/clusterroles`, { metadata: { name }, rules: [all, signers] });
    await api.call('POST', `${at}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', apiGroup: rbac, name }],
    });
  }
});
afterAll(() => api.close());

const made = (name: string, signerName: string, request: string) => ({
  metadata: { name },
  spec: { request, signerName, usages: ['client auth'] },
});

const change = (type: string) => ({
  status: { conditions: [{ type, status: 'True', reason: 'R', message: 'm' }] },
});

test.each([
  ['none', 403],
  ['named', 200],
  ['domain', 200],
])('who has %s of the signers: %i', async (name, code) => {
  await api.call('POST', requests, made(name, signer, plain));
  const ask = (path: string, body: object) =>
    call(api.server.transport(someone(name)), 'PATCH', `${requests}/${name}${path}`, body);
  const signed = await ask('/status', change('Other'));
  const approved = await ask('/approval', change('Approved'));
  expect([approved.status, signed.status]).toEqual([code, code]);
  expect((await ask('/status', { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  if (code === 200) return;
  const said = (verb: string) =>
    `certificatesigningrequests.${group} "${name}" is forbidden: user not permitted to ${verb} requests with signerName "${signer}"`;
  expect([approved.body.message, signed.body.message]).toEqual([said('approve'), said('sign')]);
});

test('nobody asks for a certificate of the administrators', async () => {
  const ask = async (organizations: keyof typeof certificateRequests, signerName: string) => {
    const { status, body } = await api.call(
      'POST',
      `${requests}?dryRun=All`,
      made('x', signerName, certificateRequests[organizations]),
    );
    return [status, body.message];
  };
  const forUsers = 'kubernetes.io/kube-apiserver-client';
  const refused = `certificatesigningrequests.${group} "x" is forbidden: use of ${forUsers} signer with system:masters group is not allowed`;
  expect(await ask('system:masters', forUsers)).toEqual([403, refused]);
  expect(await ask('a, system:masters among others', forUsers)).toEqual([403, refused]);
  expect((await ask('system:mastersx', forUsers))[0]).toBe(201);
  expect((await ask('system:masters', signer))[0]).toBe(201);
});

// Signers read a block at the start of a line only.
test.each([
  ['behind another', (harmless: string, masters: string) => `${harmless}\n${masters}`],
  ['behind one that none reads', (harmless: string, masters: string) => `x${harmless}\n${masters}`],
])('a request %s is none', async (_, together) => {
  const pem = (base64: string) => Buffer.from(base64, 'base64').toString('latin1');
  const both = together(plain === undefined ? '' : pem(plain), pem(certificateRequests['system:masters']));
  const request = Buffer.from(both, 'latin1').toString('base64');
  const answer = await api.call('POST', `${requests}?dryRun=All`, made('x', signer, request));
  expect([answer.status, answer.body.message]).toEqual([
    422,
    expect.stringContaining('PEM block type must be CERTIFICATE REQUEST'),
  ]);
});

test('the organizations of a request', () => {
  const read = (request: string) => organizationsOf(Buffer.from(request, 'base64').toString('latin1'));
  expect(Object.values(certificateRequests).map(read)).toEqual([
    ['system:masters'],
    ['a', 'system:masters'],
    ['system:mastersx'],
  ]);
  expect(() => read('eA==')).toThrow();
});
