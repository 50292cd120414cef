import { expect, test } from 'vitest';
import { authorizeRequest } from '../../../../apiserver/authz/check.ts';
import { parseRequest } from '../../../../apiserver/request.ts';

test.each([
  [
    '/apis/apps/v1/namespaces/a/deployments/b/scale',
    'deployments.apps "b" is forbidden: User "bob" cannot get resource "deployments/scale" in API group "apps" in the namespace "a"',
    { name: 'b', group: 'apps', kind: 'deployments' },
  ],
  [
    '/apis/apps/v1/namespaces/a//b',
    '.apps "b" is forbidden: User "bob" cannot get resource "" in API group "apps" in the namespace "a"',
    { name: 'b', group: 'apps' },
  ],
  [
    '/api/v1/namespaces/a//b',
    'forbidden: User "bob" cannot get resource "" in API group "" in the namespace "a"',
    { name: 'b' },
  ],
  [
    '/api/v1/namespaces/a/configmaps/..',
    'configmaps ".." is forbidden: User "bob" cannot get resource "configmaps" in API group "" in the namespace "a"',
    { name: '..', kind: 'configmaps' },
  ],
  ['/healthz/', 'forbidden: User "bob" cannot get path "/healthz/"', {}],
])('who may not read %s is told so in words of it', (url, message, details) => {
  const info = parseRequest('GET', url, { logicalClusters: true });
  const refuse = () => authorizeRequest(() => ({ allowed: false }), info, { name: 'bob', groups: [] });
  expect(refuse).toThrow(expect.objectContaining({ code: 403, message, details }));
});
