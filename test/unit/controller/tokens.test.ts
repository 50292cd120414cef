import { expect, test } from 'vitest';
import { decideSecret, withoutSecret, withToken } from '../../../controller/tokens/decide.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const name = 'kubernetes.io/service-account.name';
const uid = 'kubernetes.io/service-account.uid';
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', uid: '1' } };
const type = 'kubernetes.io/service-account-token';
const full = { token: base64('t'), 'ca.crt': base64('PEM'), namespace: base64('sea') };
const secret = (
  data?: Record<string, string>,
  annotations: Record<string, string> = { [name]: 'robot' },
) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type,
  metadata: { name: 's', namespace: 'sea', annotations },
  ...(data && { data }),
});

test.each([
  ['of another type', { ...secret(), type: 'Opaque' }, account, 'nothing'],
  ['of nobody', secret({}, {}), account, 'nothing'],
  ['whose account is not there', secret(full), undefined, 'delete'],
  ['whose account is another by now', secret(full, { [name]: 'robot', [uid]: '0' }), account, 'delete'],
  ['with all that it needs', secret(full, { [name]: 'robot', [uid]: '1' }), account, 'nothing'],
  ['with nothing', secret(), account, 'fill'],
  ['with another authority', secret({ ...full, 'ca.crt': base64('old') }), account, 'fill'],
  ['without a namespace', secret({ ...full, namespace: '' }), account, 'fill'],
  ['without a token', secret({ ...full, token: '' }), account, 'fill'],
])('a Secret %s', (_what, given, its, wanted) => {
  expect(decideSecret(given, its, 'PEM').do).toBe(wanted);
});

test('what it has of a user stays, and it says whose it is', () => {
  const step = decideSecret(secret({ own: 'x', namespace: base64('other') }), account, 'PEM');
  if (step.do !== 'fill') throw new Error(step.do);
  expect(step.lacks.token).toBe(true);
  const { data, metadata } = withToken(step.wanted, 'new');
  expect(data).toEqual({
    own: 'x',
    namespace: base64('other'),
    'ca.crt': base64('PEM'),
    token: base64('new'),
  });
  expect(metadata.annotations).toEqual({ [name]: 'robot', [uid]: '1' });
});

test('one that is going is left alone', () => {
  const going = {
    ...secret(),
    metadata: { ...secret().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  };
  expect(decideSecret(going, account, 'PEM').do).toBe('nothing');
});

test('an account forgets a Secret that has gone', () => {
  const its = { ...account, secrets: [{ name: 'a' }, { name: 'b' }] };
  expect(withoutSecret(its, 'a')?.secrets).toEqual([{ name: 'b' }]);
  expect(withoutSecret(its, 'c')).toBeUndefined();
});
