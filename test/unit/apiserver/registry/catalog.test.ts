import { expect, test } from 'vitest';
import { Catalog } from '../../../../apiserver/registry/catalog.ts';
import type { ServedResource } from '../../../../apiserver/served.ts';
import { builtinResources } from '../../../../kube/schema/builtin.ts';

const [some] = builtinResources;
const served = { info: { ...some, group: 'example.com', resource: 'widgets' }, schema: {} } as ServedResource;

test('what is told of a definition after its end, and was before, is left out', () => {
  const catalog = new Catalog([]);
  catalog.define('a', 'widgets.example.com', [served], 1);
  catalog.define('a', 'widgets.example.com', [], 3);
  catalog.define('a', 'widgets.example.com', [served], 2);
  expect(catalog.definedBy('a', 'widgets.example.com')).toEqual([]);
  catalog.define('a', 'widgets.example.com', [served], 4);
  expect(catalog.definedBy('a', 'widgets.example.com')).toEqual([served]);
});

test('of definitions that went nothing is known for ever, and of those that are there all', () => {
  const catalog = new Catalog([]);
  catalog.define('stays', 'widgets.example.com', [served], 1);
  for (let i = 1; i <= 5_000; i++) {
    catalog.define(`c${i}`, 'widgets.example.com', [served], 2 * i);
    catalog.define(`c${i}`, 'widgets.example.com', [], 2 * i + 1);
  }
  expect(catalog.known).toBeLessThanOrEqual(1_001);
  catalog.define('c5000', 'widgets.example.com', [served], 10_000);
  expect(catalog.definedBy('c5000', 'widgets.example.com')).toEqual([]);
  catalog.define('stays', 'widgets.example.com', [], 1);
  expect(catalog.definedBy('stays', 'widgets.example.com')).toEqual([served]);
});
