import { describe, expect, test } from 'vitest';
import { objectKey } from '../../../apiserver/registry/keys.ts';
import { clusterIn, parseRequest, type RequestInfo } from '../../../apiserver/request.ts';

type Expected = Partial<RequestInfo>;

const root = { cluster: 'root' };

// One line per URL.
const cases: [method: string, url: string, expected: Expected][] = [
  ['GET', '/', { ...root, isResource: false, path: '/', verb: 'get' }],
  ['GET', '/healthz', { isResource: false, path: '/healthz' }],
  ['GET', '/api', { isResource: false, path: '/api' }],
  ['GET', '/api/v1', { isResource: false, path: '/api/v1' }],
  ['GET', '/apis/apps', { isResource: false }],
  ['GET', '/apis/apps/v1', { isResource: false }],
  ['GET', '/apis/apps/v1/', { isResource: false }],
  ['GET', '/api/v1/pods', { verb: 'list', resource: 'pods', group: '', version: 'v1', namespace: '' }],
  ['GET', '/api/v1/pods?watch=true', { verb: 'watch', resource: 'pods' }],
  ['GET', '/api/v1/pods?watch=1', { verb: 'watch' }],
  ['GET', '/api/v1/pods?watch=', { verb: 'watch' }],
  ['GET', '/api/v1/pods?watch=false', { verb: 'list' }],
  ['GET', '/api/v1/pods?watch=0', { verb: 'list' }],
  ['GET', '/api/v1/watch/pods', { verb: 'watch', resource: 'pods' }],
  ['GET', '/api/v1/watch/namespaces/a/pods/b', { verb: 'watch', namespace: 'a', name: 'b' }],
  ['GET', '/api/v1/watch/namespaces/a', { verb: 'watch', resource: 'namespaces', namespace: 'a', name: 'a' }],
  ['POST', '/api/v1/watch/namespaces/a/pods', { verb: 'watch', namespace: 'a', name: '' }],
  ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Da', { verb: 'list', name: '', selected: 'a' }],
  ['GET', '/api/v1/namespaces', { verb: 'list', resource: 'namespaces', namespace: '' }],
  ['GET', '/api/v1/namespaces/a', { verb: 'get', resource: 'namespaces', name: 'a', namespace: 'a' }],
  [
    'PUT',
    '/api/v1/namespaces/a/status',
    { verb: 'update', resource: 'namespaces', name: 'a', subresource: 'status' },
  ],
  ['PUT', '/api/v1/namespaces/a/finalize', { resource: 'namespaces', name: 'a', subresource: 'finalize' }],
  ['GET', '/api/v1/namespaces/a/pods', { verb: 'list', resource: 'pods', namespace: 'a', name: '' }],
  ['POST', '/api/v1/namespaces/a/pods', { verb: 'create', resource: 'pods', namespace: 'a' }],
  ['GET', '/api/v1/namespaces/a/pods/b', { verb: 'get', resource: 'pods', namespace: 'a', name: 'b' }],
  ['GET', '/api/v1/namespaces/a/pods/b/log', { subresource: 'log', name: 'b' }],
  ['GET', '/api/v1/namespaces/a/services/b/proxy/c/d', { subresource: 'proxy', rest: 'c/d' }],
  ['DELETE', '/api/v1/namespaces/a/pods', { verb: 'deletecollection' }],
  ['DELETE', '/api/v1/namespaces/a/pods/b', { verb: 'delete' }],
  [
    'PATCH',
    '/apis/apps/v1/namespaces/a/deployments/b',
    { verb: 'patch', group: 'apps', resource: 'deployments' },
  ],
  ['GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aadmin', { name: 'system:admin' }],
  [
    'GET',
    '/clusters/root:team/api/v1/pods',
    { cluster: 'root:team', resource: 'pods', path: '/api/v1/pods' },
  ],
  ['GET', '/clusters/root%3Ateam/apis', { cluster: 'root:team', isResource: false, path: '/apis' }],
  ['GET', '/clusters/*/api/v1/pods', { cluster: '*', verb: 'list' }],
  ['GET', '/clusters/%2A/api/v1/pods', { cluster: '*' }],
  ['GET', '/clusters/a', { cluster: 'a', path: '/', isResource: false }],
  ['GET', '/%63lusters/a/api/v1/pods', { cluster: 'a', verb: 'list', resource: 'pods' }],
  ['GET', '/clusters/', { cluster: 'root', path: '/clusters/' }],
  ['GET', '/clusters/?x=/clusters/a/', { cluster: 'root', path: '/clusters/' }],
  ['GET', '//clusters/a/api', { cluster: 'root', isResource: false }],
  ['GET', '//', { ...root, isResource: false, path: '//' }],
  ['GET', '//api/v1/pods', { ...root, isResource: false, path: '//api/v1/pods' }],
  ['GET', '/healthz/', { isResource: false, path: '/healthz/' }],
  ['GET', '/healthz/..', { isResource: false, path: '/healthz/..' }],
  ['GET', '/apis//apps/v1/deployments', { isResource: false }],
  ['GET', '/api/v1//pods', { isResource: false }],
  ['GET', '/api/v1/pods/', { isResource: true, resource: 'pods', path: '/api/v1/pods' }],
  ['GET', '/api/v1/pods//', { isResource: true, verb: 'list', resource: 'pods', path: '/api/v1/pods' }],
  ['GET', '/api/v1/namespaces/a//', { namespace: 'a', resource: 'namespaces', name: 'a' }],
  ['GET', '/api/v1/namespaces/a/pods/b//c', { resource: 'pods', name: 'b', subresource: '', rest: 'c' }],
  ['GET', '/api/v1/namespaces/../pods', { namespace: '..', resource: 'pods' }],
  ['GET', '/api/v1/namespaces/a/pods/%2e%2e/log', { resource: 'pods', name: '..', subresource: 'log' }],
  ['GET', '/clusters/root:team/', { cluster: 'root:team', path: '/', isResource: false }],
  ['GET', '/clusters/root:team/healthz/', { cluster: 'root:team', path: '/healthz/' }],
  ['GET', '/clusters/root:team//api', { cluster: 'root:team', path: '//api' }],
];

describe('parseRequest', () => {
  test.each(cases)('%s %s', (method, url, expected) => {
    expect(parseRequest(method, url, { logicalClusters: true })).toMatchObject(expected);
  });

  test.each(cases)('which logical cluster %s %s is in is known before', (method, url) => {
    expect(clusterIn(url)).toBe(parseRequest(method, url, { logicalClusters: true }).cluster);
  });

  test.each(['/clusters//api', '/clusters//', '/%63lusters//api', '/clusters/A/api', '/clusters/%zz/api'])(
    '%s is in none',
    (url) => expect(clusterIn(url)).toBe(''),
  );

  test('by the old path a watch is of the name in it, or of none', () => {
    const url = '/api/v1/watch/pods?fieldSelector=metadata.name%3Da';
    expect(parseRequest('GET', url, { logicalClusters: true })).not.toHaveProperty('selected');
  });

  test('a plain server has no logical clusters', () => {
    const info = parseRequest('GET', '/clusters/a/api/v1/pods', { logicalClusters: false });
    expect(info).toMatchObject({ cluster: 'root', isResource: false, path: '/clusters/a/api/v1/pods' });
  });

  test.each([
    ['/api/v1/namespaces/a%2Fb/pods', 404],
    ['/api/v1/namespaces/%zz/pods', 400],
    ['/api/v1/namespaces/%ff/pods', 400],
  ])('refuses %s', (url, code) => {
    expect(() => parseRequest('GET', url, { logicalClusters: true })).toThrow(
      expect.objectContaining({ code }),
    );
  });

  test('a NUL is a part of a name, and of no separator', () => {
    const info = parseRequest('GET', '/api/v1/namespaces/a/configmaps/x%00y', { logicalClusters: true });
    expect(info.name).toBe('x\0y');
    const key = objectKey({ group: '', resource: 'configmaps', namespaced: true }, 'root', 'a', info.name);
    expect(key).toBe('/core/configmaps/root/a/x%00y');
  });

  test.each(['Root', 'a_b', '-a', 'a:', 'a'.repeat(64), ''])('no logical cluster is named %j', (name) => {
    expect(() => parseRequest('GET', `/clusters/${name}/api/v1/pods`, { logicalClusters: true })).toThrow(
      expect.objectContaining({ code: 404 }),
    );
  });
});
