import { describe, expect, test } from 'vitest';
import { answeredHeaders, sentHeaders } from '../../../apiserver/aggregation/headers.ts';
import { UnderWay } from '../../../apiserver/aggregation/turns.ts';

const ann = { name: 'ann', groups: ['team'] };

describe('what another API server is told of a request', () => {
  test.each([
    ['x-remote-user', 'admin'],
    ['x-remote-group', 'system:masters'],
    ['x-remote-uid', '0'],
    ['x-remote-extra-scopes', 'all'],
    ['x_remote_user', 'admin'],
    ['x-remote_group', 'system:masters'],
    ['authorization', 'Bearer secret'],
    ['proxy-authorization', 'Basic secret'],
    ['cookie', 'token=secret'],
    ['impersonate-user', 'admin'],
    ['impersonate-group', 'system:masters'],
    ['sec-websocket-protocol', 'base64url.bearer.authorization.k8s.io.c2VjcmV0'],
    ['x-forwarded-for', '10.0.0.1'],
    ['x-forwarded-uri', '/other'],
    ['forwarded', 'for=10.0.0.1'],
    ['connection', 'x-remote-group'],
    ['transfer-encoding', 'chunked'],
    ['content-length', '5'],
    ['te', 'trailers'],
    ['trailer', 'x-remote-user'],
    ['expect', '100-continue'],
    ['x-http-method-override', 'DELETE'],
    ['x-atoll-availability-check', 'yes'],
    ['host', 'elsewhere'],
  ])('nothing of %s: %s that came with it', (name, value) => {
    const sent = sentHeaders({ headers: { [name]: value, accept: 'application/json' } }, ann);
    expect(sent).toEqual({ accept: 'application/json', 'x-remote-user': 'ann', 'x-remote-group': ['team'] });
  });

  test('names and keys that no header can hold are told as client-go tells them', () => {
    const extra = { 'a/b c': ['1', '2'], empty: [], ü: ['ü'] };
    expect(sentHeaders({ headers: {} }, { name: 'ü', uid: 'u', groups: [], extra })).toEqual({
      'x-remote-user': '\u00c3\u00bc',
      'x-remote-uid': 'u',
      'x-remote-extra-a%2Fb%20c': ['1', '2'],
      'x-remote-extra-%C3%BC': ['\u00c3\u00bc'],
    });
  });
});

test('of an answer nothing is passed on that is believed of the whole server', () => {
  const said = {
    'content-type': 'application/json',
    warning: '299 - "old"',
    'set-cookie': ['session=1'],
    'strict-transport-security': 'max-age=1',
    'access-control-allow-origin': '*',
    'www-authenticate': 'Basic',
    'transfer-encoding': 'chunked',
    connection: 'close',
    'report-to': '{"endpoints":[{"url":"https://elsewhere"}]}',
    nel: '{"report_to":"a"}',
    'reporting-endpoints': 'a="https://elsewhere"',
    'expect-ct': 'report-uri="https://elsewhere"',
    'service-worker-allowed': '/',
    'content-security-policy-report-only': 'report-uri https://elsewhere',
    'permissions-policy-report-only': 'a=();report-to=a',
    'audit-id': 'forged',
    'x-kubernetes-pf-flowschema-uid': 'forged',
    'x-atoll-availability-check': 'asked',
  };
  expect(answeredHeaders(said)).toEqual({ 'content-type': 'application/json', warning: '299 - "old"' });
});

test('so many of one logical cluster are under way, and others have their own room', () => {
  const underWay = new UnderWay({ short: 2, lasting: 1 });
  const [one, two] = [underWay.take('a', false), underWay.take('a', false)];
  expect([one, two].every(Boolean)).toBe(true);
  expect(underWay.take('a', false)).toBeUndefined();
  expect(underWay.take('a', true)).toBeDefined();
  expect(underWay.take('a', true)).toBeUndefined();
  expect(underWay.take('b', false)).toBeDefined();
  one?.();
  one?.();
  expect(underWay.take('a', false)).toBeDefined();
  expect(underWay.take('a', false)).toBeUndefined();
});
