import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { at } from '../../kube/untyped.ts';
import { atoll, until } from '../atoll/kubectl.ts';
import { other, type Pair, startPair, volumes, whereRun, withClaims } from '../atoll/pair.ts';

/** Two real clusters, seen at their own pods and claims. */
let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
  for (const name of ['east', 'west'] as const)
    await pair.apply(pair.cluster(name).kubeconfig, 'default', ...volumes(3));
});
afterAll(() => pair?.stop());

const claims = ['data-db-0', 'data-db-1', 'data-db-2'];

it('a StatefulSet with claims is held through a drain, then moved with recreate; its old claims stay', async () => {
  const { found, server, shown, ctl } = pair;
  const claimsOn = async (name: 'east' | 'west') =>
    (await Promise.all(claims.map((claim) => found(name, 'pvc', claim)))).flat();
  const pods = await pair.journey('db', withClaims('db', 3));
  const from = await whereRun(pods, 3);
  const to = other(from);
  await until('its claims are shown', 30, async () => (await shown('pvc', 'db')).length === 3);
  const old = await claimsOn(from);
  pods.begin();

  const held = await atoll(server.kubeconfig, 'drain', from, '--timeout', '180');
  expect(held.code).toBe(1);
  expect(held.stderr).toContain(
    `its claim data-db-0 holds data on ${from}, which cannot be moved; ` +
      'annotate the workload with atoll.dev/volumes: recreate to have it move without the data',
  );
  expect(await atoll(server.kubeconfig, 'explain', 'sts/db', '-n', 'db')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`its claim data-db-0 holds data on ${from}`),
  });
  expect(pods.ready(from)).toEqual(['db-0', 'db-1', 'db-2']);
  expect(pods.lowest).toBe(3);

  await ctl('annotate', 'sts', 'db', '-n', 'db', 'atoll.dev/volumes=recreate');
  const drained = await atoll(server.kubeconfig, 'drain', from, '--timeout', '180');
  expect(drained).toMatchObject({ code: 0, stdout: expect.stringContaining(`${from} drained`) });
  await until('it is whole', 60, async () => pods.ready(to).length === 3);
  expect(pods.ready(from)).toEqual([]);
  expect([...pods.twice]).toEqual([]);
  expect(pods.highest).toBeLessThanOrEqual(3);

  const uids = (of: KubeObject[]) => of.map(({ metadata }) => metadata.uid);
  expect(uids(await claimsOn(from))).toEqual(uids(old));
  const made = await claimsOn(to);
  expect(made.map((claim) => at(claim, 'status', 'phase'))).toEqual(['Bound', 'Bound', 'Bound']);
  for (const uid of uids(made)) expect(uids(old)).not.toContain(uid);
  await until('they are shown', 30, async () => (await shown('pvc', 'db')).join() === claims.join());
  await ctl('delete', 'ns', 'db');
  pods.stop();
});
