import { expect, test } from 'vitest';
import { isOfOneKind, Rules } from '../../../../apiserver/encryption/rules.ts';
import { both } from '../../../../apiserver/slices/keys.ts';
import type { ProviderConfiguration } from '../../../../kube/encryption/types.ts';
import { prefixRange } from '../../../../storage/store.ts';

const key = (name: string, fill: number, length = 32) => ({
  name,
  secret: Buffer.alloc(length, fill).toString('base64'),
});
const keys = (...all: ReturnType<typeof key>[]): ProviderConfiguration => ({ aesgcm: { keys: all } });
const identity: ProviderConfiguration = { identity: {} };

const at = '/core/secrets/root/default/a';
const plain = Buffer.from('{"kind":"Secret"}');

function transformer(...providers: ProviderConfiguration[]) {
  const found = new Rules({ resources: [{ resources: ['secrets'], providers }] }).of(at);
  if (found === undefined) throw new Error('no transformer');
  return found;
}
/** As other memory has it. */
const copy = (bytes: Uint8Array) => Uint8Array.prototype.slice.call(bytes);
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

test.each([16, 24, 32])(
  'opens what it sealed with a key of %d bytes, which names provider and key',
  (length) => {
    const one = transformer(keys(key('a', 1, length)));
    const sealed = copy(one.seal(at, plain));
    expect(text(sealed)).toMatch(/^atoll:enc:aesgcm:v1:a:/);
    expect(text(sealed)).not.toContain('Secret');
    expect(sealed.length).toBe('atoll:enc:aesgcm:v1:a:'.length + 32 + 12 + plain.length + 16);
    expect(one.open(at, sealed)).toMatchObject({ value: plain, stale: false });
  },
);

test('never seals twice alike', () => {
  const one = transformer(keys(key('a', 1)));
  expect(text(one.seal(at, plain))).not.toBe(text(one.seal(at, plain)));
});

test('does not open under another key of the store', () => {
  const one = transformer(keys(key('a', 1)));
  const sealed = copy(one.seal(at, plain));
  const other = '/core/secrets/other/default/a';
  expect(() => one.open(other, sealed)).toThrow('message authentication failed');
  expect(one.open(at, sealed).value).toEqual(plain);
  expect(() => one.open(other, sealed)).toThrow('message authentication failed');
});

test('does not open with another secret of the same name', () => {
  const sealed = copy(transformer(keys(key('a', 1))).seal(at, plain));
  expect(() => transformer(keys(key('a', 2))).open(at, sealed)).toThrow('message authentication failed');
  const both = transformer(keys(key('a', 2)), keys(key('a', 1)));
  expect(both.open(at, sealed)).toMatchObject({ value: plain, stale: true });
});

test('opens nothing that was cut or changed anywhere', () => {
  const one = transformer(keys(key('a', 1)), identity);
  const sealed = copy(one.seal(at, plain));
  for (let i = 0; i < sealed.length; i++) {
    if (i >= 'atoll:enc:'.length) expect(() => one.open(at, sealed.slice(0, i))).toThrow();
    const changed = copy(sealed);
    changed[i] = (changed[i] ?? 0) ^ 1;
    if (i >= 'atoll:enc:'.length) expect(() => one.open(at, changed)).toThrow();
  }
});

test('the first provider writes and all read: rotation in three steps', () => {
  const before = transformer(keys(key('a', 1)));
  const added = transformer(keys(key('a', 1), key('b', 2)));
  const first = transformer(keys(key('b', 2), key('a', 1)));
  const after = transformer(keys(key('b', 2)));
  const byA = copy(before.seal(at, plain));
  expect(added.open(at, copy(byA)).stale).toBe(false);
  expect(first.open(at, copy(byA))).toMatchObject({ value: plain, stale: true });
  const byB = copy(first.seal(at, plain));
  expect(added.open(at, copy(byB))).toMatchObject({ value: plain, stale: true });
  expect(after.open(at, copy(byB))).toMatchObject({ value: plain, stale: false });
  expect(() => after.open(at, byA)).toThrow('no matching prefix found');
});

test('identity reads and writes what is plain, and nothing else', () => {
  const to = transformer(keys(key('a', 1)), identity);
  expect(to.open(at, plain)).toMatchObject({ value: plain, stale: true });
  const away = transformer(identity, keys(key('a', 1)));
  expect(away.seal(at, plain)).toBe(plain);
  const sealed = copy(to.seal(at, plain));
  expect(away.open(at, sealed)).toMatchObject({ value: plain, stale: true });
  expect(() => transformer(identity).open(at, sealed)).toThrow('no matching prefix found');
  expect(() => transformer(keys(key('a', 1))).open(at, plain)).toThrow('no matching prefix found');
});

const rule = (...resources: string[]) => ({ resources, providers: [keys(key('a', 1))] });

test.each([
  ['secrets', '/core/secrets/root/default/a', true],
  ['secrets', '/core/configmaps/root/default/a', false],
  ['secrets', '/x.example/secrets/root/default/a', false],
  ['*.', '/core/configmaps/root/default/a', true],
  ['*.', '/apps/deployments/root/default/a', false],
  ['deployments.apps', '/apps/deployments/root/default/a', true],
  ['*.apps', '/apps/deployments/root/default/a', true],
  ['*.apps', '/core/secrets/root/default/a', false],
  ['*.*', '/x.example/pandas/root/a', true],
  ['*.*', '/!internal/secrets/a', false],
  ['*.*', '/ready', false],
  // What clusters say of Placements is named by nobody.
  ['placements.atoll.dev', '/atoll.dev/placementslices/root/default/a~east', true],
  ['placementslices.atoll.dev', '/atoll.dev/placementslices/root/default/a~east', false],
  ['secrets', '/atoll.dev/placementslices/root/default/a~east', false],
])('%s and the key %s: %s', (resource, stored, expected) => {
  expect(new Rules({ resources: [rule(resource)] }).of(stored) !== undefined).toBe(expected);
});

test.each([
  [both, true],
  [prefixRange('/atoll.dev/placements/root/default/'), true],
  [prefixRange('/core/secrets/'), true],
  [prefixRange('/atoll.dev/'), false],
  [prefixRange('/'), false],
])('what is of one kind is not passed over where it cannot be read: %j %s', (range, expected) => {
  expect(isOfOneKind(range)).toBe(expected);
});

test('an earlier, narrower rule wins', () => {
  const rules = new Rules({ resources: [{ resources: ['events'], providers: [identity] }, rule('*.*')] });
  expect(rules.of('/core/events/root/default/a')?.seal(at, plain)).toBe(plain);
  expect(rules.of(at)?.seal(at, plain)).not.toBe(plain);
});
