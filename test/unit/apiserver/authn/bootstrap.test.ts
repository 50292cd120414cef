import { expect, test } from 'vitest';
import { userOf } from '../../../../apiserver/authn/bootstrap.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const data = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
};
const secret = (more: Record<string, string> = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'bootstrap.kubernetes.io/token',
  metadata: { name: 'bootstrap-token-abcdef', ...metadata },
  data: Object.fromEntries(
    Object.entries({ ...data, ...more }).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  ),
});
const shown = { id: 'abcdef', secret: '0123456789abcdef', cluster: 'c1', now };

test('who shows the token is a bootstrapper of that logical cluster', () => {
  expect(userOf(secret(), shown)).toEqual({
    name: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers'],
    extra: { 'authentication.kcp.io/scopes': ['cluster:c1'] },
  });
  const groups = { 'auth-extra-groups': 'system:bootstrappers:b,system:bootstrappers:a' };
  expect(userOf(secret({ ...groups, expiration: '2026-01-01T00:00:01Z' }), shown)?.groups).toEqual([
    'system:bootstrappers',
    'system:bootstrappers:a',
    'system:bootstrappers:b',
  ]);
});

test.each<[string, object]>([
  ['another secret', secret({ 'token-secret': '0123456789abcdeF' })],
  ['another id', secret({ 'token-id': 'abcdeg' })],
  ['another type', { ...secret(), type: 'Opaque' }],
  ['no data', { ...secret(), data: undefined }],
  ['another use', secret({ 'usage-bootstrap-authentication': 'True' })],
  ['its time over', secret({ expiration: '2026-01-01T00:00:00Z' })],
  ['no time for its time', secret({ expiration: 'tomorrow' })],
  ['a time that is no RFC 3339', secret({ expiration: '2027' })],
  ['another group', secret({ 'auth-extra-groups': 'system:masters' })],
  ['another group beside', secret({ 'auth-extra-groups': 'system:bootstrappers:a,system:masters' })],
  ['been deleted', secret({}, { deletionTimestamp: '2025-01-01T00:00:00Z' })],
])('a Secret that has %s makes nobody', (_what, found) => {
  expect(userOf(found as never, shown)).toBeUndefined();
});
