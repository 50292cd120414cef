import { expect, test } from 'vitest';
import { decodeContinue, encodeContinue } from '../../../apiserver/registry/continue.ts';

const prefix = '/core/pods/root/ns/';

function tokenOf(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

test('a token names a key below the collection, in the form of kube-apiserver', () => {
  const token = encodeContinue({ revision: 7, after: `${prefix}web` }, prefix);
  expect(JSON.parse(Buffer.from(token, 'base64url').toString())).toEqual({
    v: 'meta.k8s.io/v1',
    rv: 7,
    start: 'web\0',
  });
  expect(decodeContinue(token, prefix)).toEqual({ revision: 7, after: `${prefix}web` });
});

test('a key without the zero byte is itself the next', () => {
  const { after } = decodeContinue(tokenOf({ v: 'meta.k8s.io/v1', rv: -3, start: 'web' }), prefix);
  const sorted = [`${prefix}web`, after, `${prefix}weaz`].sort();
  expect(sorted).toEqual([`${prefix}weaz`, after, `${prefix}web`]);
});

test.each([
  [{ v: 'x', rv: 1, start: 'a' }, 'server does not recognize this encoded version x'],
  [{}, 'server does not recognize this encoded version '],
  [{ v: 'meta.k8s.io/v1', start: 'a' }, 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
  [{ v: 'meta.k8s.io/v1', rv: 5, start: '' }, 'encoded start key empty (version meta.k8s.io/v1)'],
  [{ v: 'meta.k8s.io/v1', rv: 5, start: '../a' }, '../a'],
  [{ v: 'meta.k8s.io/v1', rv: 5, start: 'a/../../b' }, 'a/../../b'],
  [{ v: 'meta.k8s.io/v1', rv: 5, start: 'a/' }, 'a/'],
  [
    { v: 'meta.k8s.io/v1', rv: '5', start: 'a' },
    'json: cannot unmarshal string into Go struct field continueToken.rv of type int64',
  ],
])('%j is no token', (value, why) => {
  expect(() => decodeContinue(tokenOf(value), prefix)).toThrow(
    expect.objectContaining({
      code: 400,
      message: `invalid continue token: continue key is not valid: ${why}`,
    }),
  );
});
