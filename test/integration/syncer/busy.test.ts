import { expect, test } from 'vitest';
import type { ApiResponse } from '../../../kube/http.ts';
import { deployment, until } from '../../world/objects.ts';
import { active } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const sides = Sides.forEach();

/** As kube-apiserver says it, which has a Status for neither. */
const busy = (status: number, retryAfter: string): ApiResponse => ({
  status,
  headers: { 'content-type': 'text/plain', 'retry-after': retryAfter },
  body: Buffer.from('Too many requests, please try again later.\n'),
});

test.each([429, 408])(
  'an API server that says %s is asked again when it says, and refuses nothing by it',
  async (status) => {
    const { upstream, physical } = sides;
    const asked: number[] = [];
    physical.faults.instead = ({ method, url }) => {
      if (method !== 'PATCH' || !url.includes('/deployments/web')) return undefined;
      asked.push(Date.now());
      return asked.length < 3 ? busy(status, '2') : undefined;
    };
    const ref = await upstream.place(deployment('web', 4), { east: active });
    const told: unknown[] = [];
    sides.start();
    await until('it is there', async () => {
      const slice = await upstream.slice(ref);
      if (slice?.error) told.push(slice.error);
      return slice?.present;
    });
    expect(told).toEqual([]);
    const [first = 0, second = 0, third = 0] = asked;
    expect(second - first).toBeGreaterThanOrEqual(2000);
    expect(third - second).toBeGreaterThanOrEqual(2000);
  },
);
