import { describe, expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '../../../../kube/object.ts';
import { capUpdaters, decodeManagers, encodeManagers, isReset } from '../../../../kube/patch/managers.ts';

type Row = [manager: string, second: number, owns: string, more?: Partial<ManagedFieldsEntry>];

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString().replace('.000', '');

function entries(rows: readonly Row[]): ManagedFieldsEntry[] {
  return rows.map(([manager, second, owns, more]) => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: at(second),
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': Object.fromEntries(owns.split(' ').map((name) => [`f:${name}`, {}])) },
    ...more,
  }));
}

/** `m01` to `m<count>`, one a second, each owning the field of its name. */
function row(count: number, from = 1): Row[] {
  return Array.from({ length: count }, (_, i) => {
    const name = `m${String(from + i).padStart(2, '0')}`;
    return [name, from + i, name];
  });
}

const applier: Row = ['flux', 0, 'x', { operation: 'Apply' }];
const other = (name: string, second: number): Row => [name, second, name, { apiVersion: 'v2' }];

function rolledUp(rows: readonly Row[]): Row[] {
  const managers = decodeManagers(entries(rows), 'stored');
  capUpdaters(managers);
  return (encodeManagers(managers) ?? []).map((entry) => {
    const fields = (entry.fieldsV1 as { 'f:data': object } | undefined)?.['f:data'] ?? {};
    const owns = Object.keys(fields)
      .map((field) => field.slice(2))
      .join(' ');
    const more: Partial<ManagedFieldsEntry> = {
      ...(entry.operation === 'Apply' && { operation: 'Apply' }),
      ...(entry.apiVersion !== 'v1' && { apiVersion: entry.apiVersion ?? '' }),
    };
    const second = (Date.parse(entry.time ?? '') - Date.UTC(2026, 0)) / 1000;
    const { manager = '' } = entry;
    return Object.keys(more).length > 0 ? [manager, second, owns, more] : [manager, second, owns];
  });
}

describe('more than ten updaters are rolled up', () => {
  it.each<[string, Row[], Row[]]>([
    ['ten stay', row(10), row(10)],
    ['the oldest two of eleven', row(11), [['ancient-changes', 2, 'm01 m02'], ...row(9, 3)]],
    ['the oldest four of thirteen', row(13), [['ancient-changes', 4, 'm01 m02 m03 m04'], ...row(9, 5)]],
    [
      'into the bucket that is there',
      [['ancient-changes', 2, 'm01 m02'], ...row(10, 3)],
      [['ancient-changes', 3, 'm01 m02 m03'], ...row(9, 4)],
    ],
    ['appliers do not count', [applier, ...row(10)], [applier, ...row(10)]],
    [
      'the oldest is the first by name within a second',
      [['zz', 0, 'zz'], ['aa', 0, 'aa'], ...row(9)],
      [['ancient-changes', 0, 'aa zz'], ...row(9)],
    ],
    [
      'each version has a bucket of its own, and one alone is none',
      [other('a', 0), ...row(10)],
      [other('a', 0), ['ancient-changes', 2, 'm01 m02'], ...row(8, 3)],
    ],
    [
      'a bucket that comes after the first of its second loses nothing',
      [['aaa', 1, 'aaa'], ['ancient-changes', 1, 'm01 m02'], ...row(9, 3)],
      [['ancient-changes', 1, 'aaa m01 m02'], ...row(9, 3)],
    ],
  ])('%s', (_, before, after) => expect(rolledUp(before)).toEqual(after));
});

describe('decodeManagers', () => {
  it.each<[string, Partial<Record<keyof ManagedFieldsEntry, unknown>>, string]>([
    ['an unknown operation', { operation: 'Delete' }, 'operation must be `Apply` or `Update`'],
    ['no version', { apiVersion: '' }, 'apiVersion must not be empty'],
    ['no type', { fieldsType: '' }, 'missing fieldsType in managed fields entry 0'],
    ['another type', { fieldsType: 'FieldsV2' }, 'invalid fieldsType "FieldsV2" in managed fields entry 0'],
    ['no set', { fieldsV1: { 'f:a': 'x' } }, 'fieldsV1 must hold objects'],
  ])('refuses %s', (_, change, message) => {
    const broken = { ...entries(row(1))[0], ...change } as ManagedFieldsEntry;
    expect(() => decodeManagers([broken], 'given')).toThrow(message);
  });

  it('takes an applier of two versions for one, an updater for two', () => {
    const twice = (operation: 'Apply' | 'Update') =>
      decodeManagers(
        entries([
          ['a', 0, 'x', { operation }],
          ['a', 0, 'y', { operation, apiVersion: 'v2' }],
        ]),
        'stored',
      );
    expect(twice('Apply').size).toBe(1);
    expect(twice('Update').size).toBe(2);
  });
});

it('sorts appliers before updaters, then by age, then by name', () => {
  const shuffled: Row[] = [
    ['b', 1, 'x'],
    ['a', 1, 'x'],
    ['c', 0, 'x'],
    ['z', 9, 'x', { operation: 'Apply' }],
  ];
  const sorted = encodeManagers(decodeManagers(entries(shuffled), 'stored'));
  expect(sorted?.map(({ manager }) => manager)).toEqual(['z', 'c', 'a', 'b']);
});

it.each<[ManagedFieldsEntry[] | undefined, boolean]>([
  [undefined, false],
  [[], true],
  [[{} as ManagedFieldsEntry], true],
  [[{}, {}] as ManagedFieldsEntry[], false],
  [entries(row(1)), false],
])('%j throws ownership away: %s', (managedFields, expected) => {
  expect(isReset({ name: 'a', ...(managedFields && { managedFields }) })).toBe(expected);
});
