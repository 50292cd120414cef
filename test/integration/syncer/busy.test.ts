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

test('what stands before a cluster that was away is not obeyed longer than that', async () => {
  const { upstream, physical } = sides;
  let isAway = true;
  const asked: string[] = [];
  physical.faults.instead = ({ method, url }) => {
    if (!isAway) return undefined;
    asked.push(`${method} ${url}`);
    return busy(503, '600');
  };
  const ref = await upstream.place(deployment('web', 4), { east: active });
  sides.start();
  await until('it is known to be away', async () => {
    const { status } = await upstream.cluster();
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'False');
  });
  expect(asked.length).toBeGreaterThan(0);
  const since = Date.now();
  isAway = false;
  await until('it is there', async () => (await upstream.slice(ref))?.present);
  // A heartbeat, of which there are several a second here, and not the minute that was asked for.
  expect(Date.now() - since).toBeLessThan(50_000);
});

test('nor where no heartbeat was lost by it', async () => {
  const { upstream, physical } = sides;
  sides.start();
  await until('it answers', async () => {
    const { status } = await upstream.cluster();
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  });
  let isAway = true;
  let asked = 0;
  physical.faults.instead = ({ method, url }) => {
    if (!isAway || method !== 'PATCH' || !url.includes('/deployments/web')) return undefined;
    asked += 1;
    isAway = false;
    return busy(503, '600');
  };
  const since = Date.now();
  const ref = await upstream.place(deployment('web', 4), { east: active });
  await until('it is there', async () => (await upstream.slice(ref))?.present);
  expect(asked).toBe(1);
  expect(Date.now() - since).toBeLessThan(50_000);
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
