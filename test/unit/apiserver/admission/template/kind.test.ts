import { expect, test } from 'vitest';
import { kindOf } from '../../../../../apiserver/admission/template/kind.ts';
import type { Core } from '../../../../../apiserver/core.ts';
import type { AdmissionRequest } from '../../../../../apiserver/plugins.ts';
import type { Range } from '../../../../../storage/store.ts';

/** What is asked of the store for a write of a custom resource of that group and resource. */
async function asked(group: string, resource: string): Promise<[kind: string | undefined, asked: string[]]> {
  const ranges: string[] = [];
  const recent = ({ start }: Range) => {
    ranges.push(start);
    return [];
  };
  const object = {
    apiVersion: `${group}/v1`,
    kind: 'K',
    metadata: { name: 'web', namespace: 'n', uid: 'u' },
  };
  const request = {
    stored: { info: { group, version: 'v1', kind: 'K', resource, namespaced: true }, custom: true },
    cluster: 'root',
    namespace: 'n',
    object,
    old: object,
  };
  const found = await kindOf(
    { store: { recent } } as unknown as Core,
    request as unknown as AdmissionRequest,
  );
  return [found?.kind, ranges];
}

test('whether a custom resource is placed is looked for in the rules, and in its Placement', async () => {
  const [kind, ranges] = await asked('example.com', 'widgets');
  expect([kind, ranges]).toEqual([
    undefined,
    ['/atoll.dev/placedresources/root/', '/atoll.dev/placements/root/n/web.widgets.example.com'],
  ]);
});

test('of a Placement nothing is asked: it is placed itself by no rule', async () => {
  expect(await asked('atoll.dev', 'placements')).toEqual([undefined, []]);
});
