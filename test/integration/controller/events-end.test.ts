import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { runEventsEnd } from '../../../controller/ttl/events.ts';
import type { Clock } from '../../../kube/clock.ts';
import { silentLogger } from '../../../kube/log.ts';
import { eventually } from '../../eventually.ts';
import { startApi } from '../apiserver/api.ts';

const hourMs = 3_600_000;

test('Events of all logical clusters go an hour after they were written last', async () => {
  const api = startApi();
  await api.addCluster('root:team');
  const stop = new AbortController();
  const client = new Client(api.server.transport({ name: 'c', groups: ['system:masters'] }), {
    cluster: '*',
  });
  const due: (() => void)[] = [];
  let passed = 0;
  const clock: Clock = {
    now: () => Date.now() + passed,
    after: (_ms, run) => {
      due.push(run);
      return () => undefined;
    },
  };
  const done = runEventsEnd({ client, signal: stop.signal, logger: silentLogger, clock });
  const at = (cluster: string, name = '') => `${cluster}/api/v1/namespaces/default/events/${name}`;
  const event = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    ...more,
  });
  const status = async (cluster: string, name: string) => (await api.call('GET', at(cluster, name))).status;
  for (const cluster of ['', '/clusters/root:team']) {
    const made = await api.call('POST', at(cluster).slice(0, -1), event('old'));
    expect(made.status).toBe(201);
  }
  due.shift()?.();
  await eventually(() => expect(due).toHaveLength(1));
  expect(await status('', 'old')).toBe(200);
  passed = hourMs + 1_000;
  const lastTimestamp = new Date(Date.now() + passed).toISOString().replace(/\.\d+/, '');
  await api.call('POST', at('').slice(0, -1), event('late', { lastTimestamp }));
  due.shift()?.();
  await eventually(async () => {
    expect(await status('', 'old')).toBe(404);
    expect(await status('/clusters/root:team', 'old')).toBe(404);
  });
  expect(await status('', 'late')).toBe(200);
  stop.abort();
  due.shift()?.();
  await done;
  await api.close();
});
