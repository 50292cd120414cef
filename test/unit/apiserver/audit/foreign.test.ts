import { beforeEach, describe, expect, test } from 'vitest';
import { Audit } from '../../../../apiserver/audit/audit.ts';
import { parseRequest } from '../../../../apiserver/request.ts';

let lines: string[];
let audit: Audit;
beforeEach(() => {
  lines = [];
  const policy = { rules: [{ level: 'RequestResponse' as const }], omitStages: ['RequestReceived' as const] };
  audit = new Audit({ policy, write: (line) => lines.push(line) });
});

const user = { name: 'ann', groups: [] };

/** The last event of a request whose answer somebody else wrote. */
function told(method: string, path: string, status: number, body: string) {
  const url = `/api/v1/namespaces/shop/${path}`;
  const info = parseRequest(method, url, { logicalClusters: true });
  const headers = { 'content-type': 'application/json' };
  audit
    .begin({ method, url, headers: {} }, info, user)
    ?.answered({ status, headers, body: Buffer.from(body) });
  return JSON.parse(lines.at(-1) ?? '');
}

/** As an object of an event's it would end there, and the rest be fields of the event. */
const ends = (padding: number) =>
  `{"a":"${'x'.repeat(padding)}"},"user":{"username":"bob"},"annotations":{"authorization.k8s.io/decision":"forbid"},"b":{}`;

describe('what a pod answers by a proxy changes nothing else of the event', () => {
  test.each([
    ['short and no JSON', 404, '{not JSON'],
    ['short', 500, ends(0)],
    ['long', 404, ends(70_000)],
    ['long and whole', 404, `{"a":"${'x'.repeat(70_000)}"}`],
  ])('%s', (_, status, body) => {
    for (const [method, verb] of [
      ['GET', 'get'],
      ['POST', 'create'],
    ] as const) {
      const event = told(method, 'services/web/proxy/a', status, body);
      expect(event).toMatchObject({ verb, user: { username: 'ann' }, responseStatus: { code: status } });
      expect([event.responseObject, event.annotations]).toEqual([
        undefined,
        { 'atoll.dev/logical-cluster': 'root' },
      ]);
    }
  });
});

test.each([
  ['PATCH', 'pods/web', 409],
  ['POST', 'pods/web/eviction', 201],
])('%s %s: nor does what a physical cluster answers with %i', (method, path, status) => {
  for (const padding of [0, 70_000]) {
    const event = told(method, path, status, ends(padding));
    expect(event).toMatchObject({ user: { username: 'ann' }, responseStatus: { code: status } });
    expect(event.responseObject).toBeUndefined();
  }
  const event = told(method, path, status, '{"kind":"Status","message":"no"}');
  expect(event.responseObject).toEqual({ kind: 'Status', message: 'no' });
});
