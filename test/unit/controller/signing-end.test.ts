import { expect, test } from 'vitest';
import { endOf } from '../../../controller/signing/end.ts';
import type { KubeObject } from '../../../kube/object.ts';

const at = (hour: number) => new Date(hour * 3_600_000).toISOString();
const condition = (type: string, hour: number) => ({ type, status: 'True', lastUpdateTime: at(hour) });
const never = Number.POSITIVE_INFINITY;

test.each<[string, object | undefined, number]>([
  ['nobody has looked at', undefined, 25],
  ['was denied', { conditions: [condition('Denied', 3)] }, 4],
  ['failed', { conditions: [condition('Approved', 2), condition('Failed', 3)] }, 4],
  ['was approved, and nobody signs', { conditions: [condition('Approved', 3)] }, 27],
  ['was signed', { conditions: [condition('Approved', 3)], certificate: 'bm9uZQ==' }, 4],
  ['is of a signer with words of its own', { conditions: [condition('Looking', 3)] }, never],
  ['has no time', { conditions: [{ type: 'Denied', status: 'True' }] }, never],
])('a request that %s goes in time', (_, status, hour) => {
  const metadata = { name: 'a', creationTimestamp: at(1) };
  const request = { metadata, ...(status && { status }) } as unknown as KubeObject;
  expect(endOf(request)).toBe(hour * 3_600_000);
});
