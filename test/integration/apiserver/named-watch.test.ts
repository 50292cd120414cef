import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserInfo } from '../../../kube/http.ts';
import { type Api, call, configMap, startApi, take, watch } from './api.ts';

const group = 'rbac.authorization.k8s.io';
const inDefault = `/apis/${group}/v1/namespaces/default`;
const maps = '/api/v1/namespaces/default/configmaps';
const old = '/api/v1/watch/namespaces/default/configmaps';
const dev: UserInfo = { name: 'dev', groups: ['system:authenticated'] };

let api: Api;
beforeAll(async () => {
  api = startApi();
  for (const name of ['mine', 'other']) await api.call('POST', maps, configMap(name));
  const verbs = ['list', 'watch'];
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs, resourceNames: ['mine'] }];
  await api.call('POST', `${inDefault}/roles`, { metadata: { name: 'mine' }, rules });
  await api.call('POST', `${inDefault}/rolebindings`, {
    metadata: { name: 'mine' },
    roleRef: { apiGroup: group, kind: 'Role', name: 'mine' },
    subjects: [{ kind: 'User', apiGroup: group, name: 'dev' }],
  });
});
afterAll(() => api.close());

/** What a watch shows at first, and after both objects changed. */
async function seen(url: string): Promise<unknown[]> {
  const events = watch(api.server.transport(dev), url);
  const first = take(events, 2);
  for (const name of ['other', 'mine'])
    await api.call('PATCH', `${maps}/${name}`, { data: { at: `${Math.random()}` } });
  const names = (await first).map(({ object }) => object.metadata.name);
  await events.return(undefined);
  return names;
}

test.each([
  `${old}/mine`,
  `${old}/mine?fieldSelector=metadata.name%3Dmine`,
  `${maps}?watch=1&fieldSelector=metadata.name%3Dmine`,
])('%s shows one object', async (url) => {
  expect(await seen(url)).toEqual(['mine', 'mine']);
});

test.each([
  [`${old}/mine?fieldSelector=metadata.name%3Dother`, 400],
  [`${old}/mine?fieldSelector=metadata.name%21%3Dother`, 400],
  [`${old}/mine?fieldSelector=metadata.namespace%3Ddefault`, 400],
  [`${old}/other`, 403],
  [`${old}/other?fieldSelector=metadata.name%3Dmine`, 403],
  [`${old}?fieldSelector=metadata.name%3Dmine`, 403],
  [old, 403],
  [`${maps}?watch=1`, 403],
  [`${maps}?watch=1&fieldSelector=metadata.name%21%3Dother`, 403],
])('%s is refused: %i', async (url, code) => {
  expect((await call(api.server.transport(dev), 'GET', url)).status).toBe(code);
});

test('a Namespace by its name is that one', async () => {
  const events = watch(
    api.server.transport({ name: 'admin', groups: ['system:masters'] }),
    '/api/v1/watch/namespaces/default',
  );
  const first = take(events, 2);
  for (const name of ['kube-system', 'default'])
    await api.call('PATCH', `/api/v1/namespaces/${name}`, { metadata: { labels: { a: 'b' } } });
  expect((await first).map(({ object }) => object.metadata.name)).toEqual(['default', 'default']);
  await events.return(undefined);
});
