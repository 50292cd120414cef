import { beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { Looked } from '../../../syncer/looked.ts';

const shop = 'root-shop-0123abcd';
const other = 'root-other-0123abcd';
const [deployments, jobs] = ['deployments.apps', 'jobs.batch'];

let there: Map<string, string>;
let asked: number;
let looked: Looked;
beforeEach(() => {
  [there, asked] = [new Map(), 0];
  looked = new Looked((key) => {
    asked++;
    const uid = there.get(key);
    return uid === undefined ? undefined : ({ metadata: { uid } } as KubeObject);
  });
});

const comes = (key: string, uid: string) => {
  there.set(key, uid);
  looked.changed(key);
};
const goes = (key: string) => {
  there.delete(key);
  looked.changed(key);
};
const isAll = () => [shop, other].map((namespace) => looked.isAll(namespace, deployments));

test('what has come is known once it was looked at, in its own namespace', () => {
  expect(isAll()).toEqual([true, true]);
  comes(`${shop}/a`, '1');
  comes(`${shop}/b`, '2');
  expect(isAll()).toEqual([false, true]);
  looked.at(`${shop}/a`, '1');
  expect(isAll()).toEqual([false, true]);
  looked.at(`${shop}/b`, '2');
  expect(isAll()).toEqual([true, true]);
});

test('another one of its name was not looked at, and one that has gone need not be', () => {
  comes(`${shop}/a`, '1');
  looked.at(`${shop}/a`, '1');
  comes(`${shop}/a`, '2');
  expect(isAll()).toEqual([false, true]);
  // Of the one before: it says nothing of this.
  looked.at(`${shop}/a`, '1');
  expect(isAll()).toEqual([false, true]);
  goes(`${shop}/a`);
  looked.at(`${shop}/a`, undefined);
  expect(isAll()).toEqual([true, true]);
});

test('what may be a workload of some kinds keeps these from knowing until somebody knows, or it has gone', () => {
  const kinds = () => [deployments, jobs].map((kind) => looked.isAll(shop, kind));
  comes(`${shop}/a`, '1');
  looked.at(`${shop}/a`, '1');
  looked.isOfSome(`${shop}/a`, [deployments]);
  expect([kinds(), looked.isAll(other, deployments)]).toEqual([[false, true], true]);
  looked.at(`${shop}/a`, '1');
  expect(kinds()).toEqual([true, true]);
  looked.isOfSome(`${shop}/a`, [deployments]);
  goes(`${shop}/a`);
  expect(kinds()).toEqual([true, true]);
});

test('pods of a namespace that cannot be ours are not counted', () => {
  comes('kube-system/dns', '1');
  expect(looked.isAll('kube-system', deployments)).toBe(true);
});

test('who asks of one workload looks at no pod of the others', () => {
  for (let i = 0; i < 100; i++) {
    comes(`${shop}/${i}`, `uid-${i}`);
    looked.at(`${shop}/${i}`, `uid-${i}`);
  }
  asked = 0;
  expect(isAll()).toEqual([true, true]);
  expect(asked).toBe(0);
});
