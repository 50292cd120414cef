import { expect, test } from 'vitest';
import { LastAsked } from '../../../../apiserver/audit/alike.ts';
import { Audit } from '../../../../apiserver/audit/audit.ts';
import { parseRequest } from '../../../../apiserver/request.ts';
import type { ApiRequest, UserInfo } from '../../../../kube/http.ts';

const ann: UserInfo = { name: 'ann', groups: ['people'] };
const bob: UserInfo = { name: 'bob "b"', groups: [], extra: { of: ['it'] } };

interface Asked {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  user?: UserInfo;
  sent?: object;
  as?: UserInfo;
}

const get = { url: '/api/v1/namespaces/here/pods/web' };
const asked: Asked[] = [
  get,
  get,
  { url: '/api/v1/namespaces/here/pods/other' },
  { url: '/api/v1/namespaces/there/pods/web' },
  { url: '/api/v1/namespaces/there/pods/web/log' },
  { ...get, user: bob },
  { ...get, as: bob },
  { ...get, headers: { 'user-agent': 'another ü' } },
  { ...get, headers: { 'x-forwarded-for': '10.0.0.1' } },
  { ...get, headers: { 'x-real-ip': '10.0.0.2' } },
  { url: '/apis/apps/v1/namespaces/here/deployments/web' },
  { url: '/apis/apps/v1beta1/namespaces/here/deployments/web' },
  { url: '/clusters/root:a/apis/apps/v1/namespaces/here/deployments/web' },
  { url: '/clusters/root:b/apis/apps/v1/namespaces/here/deployments/web' },
  { url: '/api/v1/namespaces/here/pods', method: 'POST', sent: { metadata: { name: 'made', uid: 'u' } } },
  { url: '/api/v1/namespaces/here/pods', method: 'POST', sent: { metadata: { name: 'next' } } },
  { url: '/api/v1/namespaces/here' },
  { url: '/api/v1/nodes?fieldSelector=metadata.name%3Done' },
  { url: '/version' },
  { url: '/healthz' },
];

/** What is told of them, each on the connection that `peerOf` names. */
function told(all: readonly Asked[], peerOf: () => object): string[] {
  const lines: string[] = [];
  const policy = { rules: [{ level: 'Metadata' as const }] };
  const audit = new Audit({ policy, write: (line) => lines.push(line), now: () => 0 });
  for (const { url, method = 'GET', headers = {}, user = ann, sent, as } of all) {
    const request: ApiRequest = { method, url, headers: { 'user-agent': 'test', ...headers }, auditId: 'id' };
    const info = parseRequest(method, url, { logicalClusters: true });
    const record = audit.begin(request, info, user, peerOf());
    record?.received();
    if (as) record?.impersonated({ user: as });
    record?.decided({ allowed: true });
    if (sent) record?.sent(sent);
    record?.answered({ status: 200, headers: {}, body: new Uint8Array() });
  }
  return lines;
}

test('what one connection said before changes no event', () => {
  const one = { address: '127.0.0.1' };
  const mixed = [...asked, ...asked.toReversed(), ...asked.flatMap((each) => [each, each, each])];
  expect(told(mixed, () => one)).toEqual(told(mixed, () => ({ address: '127.0.0.1' })));
});

test('an event has the fields of kube-apiserver in its order', () => {
  const [received, complete] = told([{ ...get, as: bob }], () => ({ address: '127.0.0.1' })).map(
    (line) => JSON.parse(line) as Record<string, unknown>,
  );
  const common = ['kind', 'apiVersion', 'level', 'auditID', 'stage', 'requestURI', 'verb', 'user'];
  const about = ['sourceIPs', 'userAgent', 'objectRef'];
  const times = ['requestReceivedTimestamp', 'stageTimestamp', 'annotations'];
  expect(Object.keys(received ?? {})).toEqual([...common, ...about, ...times]);
  expect(Object.keys(complete ?? {})).toEqual([
    ...common,
    'impersonatedUser',
    ...about,
    'responseStatus',
    ...times,
  ]);
  expect(complete?.['objectRef']).toEqual({
    resource: 'pods',
    namespace: 'here',
    name: 'web',
    apiVersion: 'v1',
  });
});

test('requests alike are put into words once', () => {
  const last = new LastAsked();
  const peer = { address: '127.0.0.1' };
  const of = (url: string) => {
    const request = { method: 'GET', url, headers: {} };
    return last.of(peer, request, parseRequest('GET', url, { logicalClusters: true }), ann);
  };
  of('/api/v1/namespaces/here/pods/a');
  const second = of('/api/v1/namespaces/here/pods/b');
  expect(of('/api/v1/namespaces/here/pods/c')).toBe(second);
  expect(of('/api/v1/namespaces/here/services/c')).not.toBe(second);
});
