import { afterEach, expect, test } from 'vitest';
import { syncerUser } from '../../../apiserver/view/view.ts';
import { transportFromKubeconfigFile } from '../../../client/kubeconfig.ts';
import type { Level } from '../../../kube/audit/types.ts';
import type { Transport } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, resources, settled, template } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';
import { call } from '../apiserver/api.ts';

const { deployments, physicalclusters, secrets, serviceaccounts } = resources;
const inDefault = { namespace: 'default' };
let world: World;
afterEach(() => world.stop());

/** What the server recorded, and said in its log at its most talkative. */
async function started(level: Level): Promise<{ events: string[]; logged: string[]; admin: Transport }> {
  const events: string[] = [];
  const logged: string[] = [];
  const log = (fields: object, message: string) => logged.push(`${message} ${JSON.stringify(fields)}`);
  world = await startWorld({
    clusters: ['east'],
    audit: {
      options: { policy: { rules: [{ level }] }, write: (line) => events.push(line) },
      close: async () => {},
    },
    logLevel: 'debug',
    logger: { debug: log, info: log, warn: log, error: log },
  });
  return { events, logged, admin: await transportFromKubeconfigFile(await world.listen()) };
}

/** Answers the token that its pods have there. */
async function placed(name: string): Promise<string> {
  const { admin } = world;
  const config = { inClusterConfig: { server: 'https://127.0.0.1:6443' } };
  await admin.patch(physicalclusters, { name: 'east' }, 'merge', { spec: config });
  await admin.create(serviceaccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, ...inDefault },
  });
  const object = deployment('web', 1, 'east');
  const { spec: pod, ...rest } = template('web') as { spec: object };
  const spec = {
    ...(object.spec as object),
    template: { ...rest, spec: { ...pod, serviceAccountName: name } },
  };
  await admin.create(deployments, { ...object, spec }, inDefault);
  await settled(admin, 'web.deployments.apps');
  const { items } = await world
    .physical('east')
    .client.list<KubeObject & { data?: { token?: string } }>(secrets);
  const held = items.find(({ metadata }) => metadata.name === `atoll-token-${name}`);
  return Buffer.from(held?.data?.token ?? '', 'base64').toString();
}

test.each<Level>(['Metadata', 'Request', 'RequestResponse'])(
  'no token of an account is in events of level %s, nor in a log, whoever was given it',
  async (level) => {
    const { events, logged, admin } = await started(level);
    const inPod = await placed('robot');
    const account = '/api/v1/namespaces/default/serviceaccounts/robot/token';
    const asked = await call(admin, 'POST', account, { spec: { expirationSeconds: 600 } });
    const east = world.transport(syncerUser('east'));
    const view = `/syncers/east/clusters/root${account}`;
    const given = await call(east, 'POST', view);
    // By who has no share of it, and by who would be another.
    const refused = await call(east, 'POST', view.replace('robot', 'other'), { spec: { token: inPod } });
    const headers = { authorization: `Bearer ${inPod}` };
    await world.transport(syncerUser('east'))({ method: 'POST', url: view, headers });
    expect([asked.status, given.status, refused.status]).toEqual([201, 201, 404]);
    const tokens: string[] = [inPod, asked.body.status.token, given.body.token];
    for (const token of tokens) expect(token).toMatch(/^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{20,}$/);
    const all = [...events, ...logged].join('\n');
    expect(events.filter((line) => line.includes('robot/token')).length).toBeGreaterThanOrEqual(6);
    expect(logged.filter((line) => line.includes('robot/token')).length).toBeGreaterThanOrEqual(1);
    for (const token of tokens) {
      // Nor what is enough of it to be one, nor as a Secret has it.
      for (const part of token.split('.').slice(1)) expect(all).not.toContain(part);
      expect(all).not.toContain(Buffer.from(token).toString('base64').slice(0, 200));
    }
  },
);
