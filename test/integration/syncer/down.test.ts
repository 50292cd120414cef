import { describe, expect, onTestFinished, test } from 'vitest';
import { locatorAnnotation } from '../../../cluster/names.ts';
import { deepEqual } from '../../../kube/deep.ts';
import type { Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { StatusError } from '../../../kube/status.ts';
import { numberAt } from '../../../kube/untyped.ts';
import { deployment, resources, until } from '../../world/objects.ts';
import { active, configMap, leaving, namespace, runSyncer } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const { configmaps, deployments, namespaces, resourcequotas } = resources;
const sides = Sides.forEach();
const web = deployment('web', 4);

describe('a share', () => {
  test('is applied in its shape, and what the controller has observed of it is told', async () => {
    const { upstream, physical } = sides;
    const ref = await upstream.place(web, {
      east: { phase: 'Joining', replicas: 3 },
      west: { phase: 'Active', replicas: 1 },
    });
    // Its generation, of the logical cluster, is another one than there.
    await upstream.admin.patch(deployments, { namespace, name: 'web' }, 'merge', {
      spec: { revisionHistoryLimit: 3 },
    });
    sides.start();
    const made = await sides.untilThere(deployments, 'web');
    expect(made.spec).toMatchObject({ replicas: 3 });
    expect(JSON.parse(made.metadata.annotations?.[locatorAnnotation] ?? '')).toEqual({
      syncer: (await upstream.cluster('east')).metadata.uid,
      cluster: upstream.logical,
      namespace,
      resource: 'deployments.apps',
      name: 'web',
      uid: ref.uid,
    });
    expect(await until('slice', () => upstream.slice(ref))).toEqual({ present: true, status: {} });
    await physical.roll(upstream.home, 'web', 3);
    const slice = await until('observed', async () => {
      const found = await upstream.slice(ref);
      return found?.observedGeneration === 2 && found;
    });
    expect(slice).toMatchObject({ present: true, share: { replicas: 3 }, status: { readyReplicas: 3 } });
    expect(await upstream.slice(ref, 'west')).toBeUndefined();
  });

  test('of what was never there is made by one request', async () => {
    const { upstream, physical } = sides;
    await upstream.place(configMap('settings'), { east: active });
    sides.start();
    const made = await sides.untilThere(configmaps, 'settings');
    const path = sides.path(configmaps, 'settings');
    const about = physical.faults.requests.filter((line) => line.includes(path));
    expect(about.map((line) => line.slice(0, line.indexOf(' ')))).toEqual(['PATCH']);
    expect(made.metadata.managedFields).toMatchObject([{ manager: 'atoll-syncer', operation: 'Apply' }]);
  });

  test('that says a variable twice is made all the same, and one that cannot be applied says why', async () => {
    const { upstream } = sides;
    const of = (name: string, container: object) => {
      const made = deployment(name, 1);
      const template = {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'c', image: 'c', ...container }] },
      };
      return { ...made, spec: { ...(made.spec as object), template } };
    };
    const env = ['1', '2'].map((value) => ({ name: 'A', value }));
    const ports = ['a', 'b'].map((name) => ({ name, containerPort: 80, protocol: 'TCP' }));
    await upstream.place(of('twice', { env }), { east: active });
    const ref = await upstream.place(of('ports', { ports }), { east: active });
    sides.start();
    const made = await sides.untilThere(deployments, 'twice');
    expect(made.spec).toMatchObject({ template: { spec: { containers: [{ env: env.slice(1) }] } } });
    const error = await until('told', async () => (await upstream.slice(ref))?.error);
    expect(error?.message).toContain('duplicate entries for key');
  });

  test("that a webhook of the cluster's own keeps from coming, or going, by not answering says so", async () => {
    const { upstream, physical } = sides;
    const message =
      'Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: connection refused';
    let refused = ['POST', 'PATCH'];
    physical.faults.intercept = ({ method, url }) => {
      if (refused.includes(method) && url.includes('/deployments'))
        throw new StatusError(500, 'InternalError', message);
    };
    const ref = await upstream.place(web, { east: active });
    sides.start();
    const error = () => upstream.slice(ref).then((slice) => slice?.error);
    expect(await until('told', error)).toEqual({ reason: 'InternalError', message });
    refused = ['DELETE'];
    await sides.untilThere(deployments, 'web');
    await until('no error', async () => (await error()) === undefined);
    await upstream.shares(ref, { east: leaving });
    expect(await until('told', error)).toEqual({ reason: 'InternalError', message });
    refused = [];
    await until('absent', async () => (await upstream.slice(ref))?.present === false);
  });

  test('that grows is told of only when the controller has observed the growth', async () => {
    const { upstream, physical } = sides;
    const ref = await upstream.place(web, { east: { ...active, replicas: 2 } });
    sides.start();
    await sides.untilThere(deployments, 'web');
    await physical.roll(upstream.home, 'web', 2);
    await until('2', async () => (await upstream.slice(ref))?.share?.replicas === 2);
    await upstream.shares(ref, { east: { ...active, replicas: 4 } });
    await until('4', async () => {
      const found = await sides.there(deployments, 'web');
      return (found?.spec as { replicas?: number } | undefined)?.replicas === 4;
    });
    expect((await upstream.slice(ref))?.share?.replicas).toBe(2);
    await physical.roll(upstream.home, 'web', 4);
    await until('4 told', async () => (await upstream.slice(ref))?.share?.replicas === 4);
  });

  test('that comes back while its closure is still leaving keeps that there, and waits until it joins again', async () => {
    const { upstream } = sides;
    const requires = [{ group: '', resource: 'configmaps', name: 'settings' }];
    const config = await upstream.place(configMap('settings'), { east: active });
    sides.start();
    await sides.untilThere(configmaps, 'settings');
    await sides.stop();
    await upstream.shares(config, { east: leaving });
    await upstream.place(web, { east: active }, requires);
    sides.start();
    const later = await upstream.place(configMap('later'), { east: active });
    await until('later', async () => (await upstream.slice(later))?.present);
    expect(sides.written('PATCH')).not.toContain(sides.path(deployments, 'web'));
    await upstream.shares(config, { east: active });
    await sides.untilThere(deployments, 'web');
    expect(sides.written('DELETE')).toEqual([]);
  });

  test('comes before a requirement that somebody keeps from going, and its own Placement says so', async () => {
    const { upstream, physical } = sides;
    const requires = [{ group: '', resource: 'configmaps', name: 'settings' }];
    const config = await upstream.place(configMap('settings'), { east: active });
    sides.start();
    const { uid } = (await sides.untilThere(configmaps, 'settings')).metadata;
    const at = { namespace: upstream.home, name: 'settings' };
    const finalizers = ['example.com/keep'];
    await physical.client.patch(configmaps, at, 'merge', { metadata: { finalizers } });
    await upstream.shares(config, { east: leaving });
    await until(
      'it is going',
      async () => (await sides.there(configmaps, 'settings'))?.metadata.deletionTimestamp,
    );
    await upstream.shares(config, { east: active });
    await upstream.place(web, { east: active }, requires);
    await sides.untilThere(deployments, 'web');
    const slice = await until(
      'told',
      async () => (await upstream.slice(config))?.error && upstream.slice(config),
    );
    expect(slice).toMatchObject({
      present: true,
      error: {
        reason: 'Terminating',
        message: `configmaps ${upstream.home}/settings is being deleted there, and is made anew when it has gone`,
      },
    });
    await physical.client.patch(configmaps, at, 'merge', { metadata: { finalizers: null } });
    await until('made anew', async () => {
      const found = await sides.there(configmaps, 'settings');
      return found && found.metadata.uid !== uid;
    });
    await until('told no longer', async () => {
      const now = await upstream.slice(config);
      return now?.present && !now.error;
    });
  });

  test('waits for its namespace that is going there, which is no failure', async () => {
    const { upstream, physical } = sides;
    const failed: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => failed.push(message) };
    const syncer = runSyncer(upstream, physical.transport, 'east', [], undefined, 50, logger);
    onTestFinished(() => syncer.stop());
    await upstream.place(configMap('settings'), { east: active });
    const at = { namespace: upstream.home, name: 'settings' };
    await sides.untilThere(configmaps, 'settings');
    const held = (finalizers: string[] | null) =>
      physical.client.patch(configmaps, at, 'merge', { metadata: { finalizers } });
    await held(['example.com/keep']);
    await physical.client.delete(namespaces, { name: upstream.home });
    const ref = await upstream.place(web, { east: active });
    await until('told', async () => (await upstream.slice(ref))?.error?.reason === 'Terminating');
    await held(null);
    await sides.untilThere(deployments, 'web');
    expect(failed).toEqual([]);
  });

  test('holds nothing that its user deleted, which may have been made anew', async () => {
    const { upstream } = sides;
    const requires = [{ group: '', resource: 'configmaps', name: 'settings' }];
    const config = await upstream.place(configMap('settings'), { east: active });
    await upstream.place(web, { east: active }, requires);
    sides.start();
    await sides.untilThere(deployments, 'web');
    await upstream.admin.delete(configmaps, { namespace: 'shop', name: 'settings' });
    await upstream.make(configMap('settings'));
    await upstream.shares(config, { east: leaving });
    await until('the former is gone', async () => (await upstream.slice(config))?.present === false);
    expect(await sides.there(configmaps, 'settings')).toBeUndefined();
    expect(sides.written('DELETE')).toEqual([sides.path(configmaps, 'settings')]);
  });

  test('comes after its closure, and the closure leaves after it and its pods', async () => {
    const { upstream, physical } = sides;
    const requires = [{ group: '', resource: 'configmaps', name: 'settings' }];
    const ref = await upstream.place(web, { east: active }, requires);
    const configRef = await upstream.place(configMap('settings'), { east: active });
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    physical.faults.intercept = ({ method, url }) => {
      return method === 'PATCH' && url.includes('/settings') ? held : undefined;
    };
    sides.start();
    await until('its closure is on its way', () => sides.written('PATCH').length > 0);
    const later = await upstream.place(configMap('later'), { east: active });
    await sides.untilThere(configmaps, 'later');
    const early = sides.written('PATCH');
    goOn();
    expect(early).not.toContain(sides.path(deployments, 'web'));
    const made = await sides.untilThere(deployments, 'web');

    const set = await physical.child('ReplicaSet', 'web-5d', { of: made });
    await physical.child('Pod', 'web-1', { of: set, node: 'n1' });
    await upstream.shares(ref, { east: leaving });
    await upstream.shares(configRef, { east: leaving });
    await until('its pod is going', async () => {
      const pod = await sides.there(resources.pods, 'web-1');
      return pod?.metadata.deletionTimestamp;
    });
    expect((await sides.there(deployments, 'web'))?.metadata.deletionTimestamp).toBeDefined();
    expect(await sides.there(configmaps, 'settings')).toBeDefined();
    await until('told to be there', async () => (await upstream.slice(ref))?.present === true);
    await physical.end(upstream.home, 'web-1');
    await until('gone', async () => (await upstream.slice(ref))?.present === false);
    await until('closure gone', async () => (await upstream.slice(configRef))?.present === false);
    expect(sides.written('DELETE')).toEqual([
      sides.path(deployments, 'web'),
      sides.path(configmaps, 'settings'),
    ]);
    for (const each of [ref, configRef, later]) await upstream.unplace(each);
    await until('namespace gone', async () => !(await physical.find(namespaces, '', upstream.home)));
  });

  test('comes after what it requires, also when that is told of later', async () => {
    const { upstream } = sides;
    const requires = [{ group: '', resource: 'configmaps', name: 'settings' }];
    await upstream.place(web, { east: active }, requires);
    sides.start();
    await upstream.place(configMap('later'), { east: active });
    await sides.untilThere(configmaps, 'later');
    await upstream.place(configMap('settings'), { east: active });
    await sides.untilThere(deployments, 'web');
    const order = sides.written('PATCH').filter((path) => !path.endsWith('/later'));
    expect(order.slice(-2)).toEqual([sides.path(configmaps, 'settings'), sides.path(deployments, 'web')]);
  });

  test('comes when its quota has been counted there, before which that bounds nothing', async () => {
    const { upstream, physical } = sides;
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' } };
    await upstream.place({ ...quota, spec: { hard: { pods: '2' } } }, { east: active });
    const requires = [{ group: '', resource: 'resourcequotas', name: 'few' }];
    await upstream.place(web, { east: active }, requires);
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    physical.faults.intercept = ({ url }) => {
      return url.includes('/resourcequotas?') && url.includes('watch=true') ? held : undefined;
    };
    sides.start();
    await sides.untilThere(resourcequotas, 'few');
    await upstream.place(configMap('later'), { east: active });
    await sides.untilThere(configmaps, 'later');
    expect(sides.written('PATCH')).not.toContain(sides.path(deployments, 'web'));
    goOn();
    await sides.untilThere(deployments, 'web');
    const { status } = await sides.untilThere(resourcequotas, 'few');
    expect(status).toMatchObject({ hard: { pods: '2' } });
  });

  test('that was changed or deleted there is repaired', async () => {
    const { upstream, physical } = sides;
    await upstream.place(configMap('settings'), { east: active });
    sides.start();
    await sides.untilThere(configmaps, 'settings');
    const at = { namespace: upstream.home, name: 'settings' };
    await physical.client.patch(configmaps, at, 'merge', { data: { a: 'other' } });
    await until('repaired', async () => {
      const found = await sides.there(configmaps, 'settings');
      return (found?.['data'] as { a?: string } | undefined)?.a === 'b';
    });
    await physical.client.delete(configmaps, at);
    await sides.untilThere(configmaps, 'settings');
  });

  test('that somebody deletes there again and again is made anew less and less often', async () => {
    const { upstream, physical } = sides;
    await upstream.place(configMap('settings'), { east: active });
    sides.start();
    const at = { namespace: upstream.home, name: 'settings' };
    const gone: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      await sides.untilThere(configmaps, 'settings');
      gone.push(Date.now());
      await physical.client.delete(configmaps, at);
    }
    // The second waits for 200 ms, each one for twice as long as the one before.
    expect((gone[4] ?? 0) - (gone[1] ?? 0)).toBeGreaterThanOrEqual(200 + 400 + 800 - 100);
  });

  test('arrives though the nodes that are shown cannot be read', async () => {
    const { upstream } = sides;
    let asked = 0;
    upstream.faults.instead = ({ method, url }) => {
      if (method !== 'GET' || !url.includes('/nodes')) return undefined;
      asked += 1;
      return { status: 403, headers: {}, body: Buffer.from('no') };
    };
    let isOver = false;
    void sides.start().stopped.then(() => {
      isOver = true;
    });
    await until('they were asked for', () => asked > 0);
    const ref = await upstream.place(configMap('settings'), { east: active });
    await sides.untilThere(configmaps, 'settings');
    await until('slice', async () => (await upstream.slice(ref))?.present);
    expect(isOver).toBe(false);
  });

  test('whose replicas the cluster’s own admission changes says so, and is applied again once it does no more', async () => {
    const { upstream, physical } = sides;
    physical.faults.intercept = (request) => {
      if (request.method !== 'PATCH' || !request.url.includes('/deployments/web')) return;
      const object = JSON.parse(Buffer.from(request.body as Uint8Array).toString());
      request.body = Buffer.from(JSON.stringify({ ...object, spec: { ...object.spec, replicas: 2 } }));
    };
    const ref = await upstream.place(web, { east: { ...active, replicas: 4 } });
    sides.start();
    const found = await until('it says so', async () => (await upstream.slice(ref))?.error);
    expect(found).toEqual({
      reason: 'Changed',
      message:
        "of 4 replicas that were applied 2 are in its spec there: the cluster's own admission changes them",
    });
    physical.faults.intercept = () => {};
    await sides.stop();
    sides.start();
    await until('4', async () => numberAt(await sides.there(deployments, 'web'), 'spec', 'replicas') === 4);
    await until('no error', async () => (await upstream.slice(ref))?.error === undefined);
  });

  test('of a kind that is not served is an error of that share, and stops nothing else', async () => {
    const { upstream, physical } = sides;
    const ref = await upstream.place(web, { east: active });
    const configRef = await upstream.place(configMap('settings'), { east: active });
    // As kube-apiserver says it.
    const unserved: Transport = async (request) =>
      request.url.includes('/deployments')
        ? {
            status: 404,
            headers: { 'content-type': 'text/plain' },
            body: Buffer.from('404 page not found\n'),
          }
        : await physical.transport(request);
    sides.start(unserved);
    await until('error', async () => (await upstream.slice(ref))?.error?.reason === 'NotServed');
    await until('other', async () => (await upstream.slice(configRef))?.present);
  });
});

describe('an absence', () => {
  test('that went with a former share of the same Placement is told again', async () => {
    const { upstream } = sides;
    const ref = await upstream.place(web, { east: leaving });
    sides.start();
    await until('absent', async () => (await upstream.slice(ref))?.present === false);
    await upstream.shares(ref, {});
    await upstream.dropSlices(ref);
    await upstream.shares(ref, { east: leaving });
    await until('absent, again', async () => (await upstream.slice(ref))?.present === false);
  });

  test('that is of a kind that the cluster serves no more says so, and leaves when it is served again', async () => {
    const { upstream, physical } = sides;
    sides.start();
    const ref = await upstream.place(web, { east: active });
    await until('present', async () => (await upstream.slice(ref))?.present);
    physical.faults.intercept = ({ url }) => {
      if (url.includes('/deployments')) throw new StatusError(404, 'NotFound', 'no such resource');
    };
    await upstream.remove(ref);
    const slice = await until('an error', async () => {
      const found = await upstream.slice(ref);
      return found?.error ? found : undefined;
    });
    expect(slice).toMatchObject({
      present: true,
      error: { reason: 'NotServed', message: 'the cluster does not serve deployments.apps' },
    });
    physical.faults.intercept = () => {};
    await until('absent', async () => (await upstream.slice(ref))?.present === false);
  });

  const refusals = [
    ['served', new StatusError(404, 'NotFound', 'no such resource'), 'NotServed'],
    ['allowed', new StatusError(403, 'Forbidden', 'no'), 'Forbidden'],
  ] as const;
  for (const [word, refusal, reason] of refusals)
    test(`of what was never there, as its kind is not ${word}, is waited for by nobody`, async () => {
      const { upstream, physical } = sides;
      physical.faults.intercept = ({ url }) => {
        if (url.includes('/deployments')) throw refusal;
      };
      sides.start();
      const ref = await upstream.place(web, { east: active });
      await until('an error', async () => (await upstream.slice(ref))?.error?.reason === reason);
      await upstream.dropSlices(ref);
      await upstream.shares(ref, { east: leaving });
      // What was refused may be said once more before it hears that it is to leave.
      await until('absent', async () => deepEqual(await upstream.slice(ref), { present: false }));
    });

  test('of what is there, though nobody was told of it, is no absence where its cluster does not let it be deleted', async () => {
    const { upstream, physical } = sides;
    const ref = await upstream.place(web, { east: active });
    sides.start();
    await sides.untilThere(deployments, 'web');
    await sides.stop();
    await upstream.dropSlices(ref);
    physical.faults.intercept = ({ method, url }) => {
      if (method === 'DELETE' && url.includes('/deployments')) throw new StatusError(403, 'Forbidden', 'no');
    };
    await upstream.shares(ref, { east: leaving });
    sides.start();
    await until('it is told of', async () => await upstream.slice(ref));
    expect(await upstream.slice(ref)).toMatchObject({ present: true });
    await until('why', async () => (await upstream.slice(ref))?.error?.reason === 'Forbidden');
    expect(await sides.there(deployments, 'web')).toBeDefined();
    physical.faults.intercept = () => {};
    await until('absent', async () => (await upstream.slice(ref))?.present === false);
    expect(await sides.there(deployments, 'web')).toBeUndefined();
  });

  /** The splitter drops what was said before the share was told to leave, then tells it. */
  test('that was said too early, and was dropped, is said again', async () => {
    const { upstream } = sides;
    sides.start();
    const ref = await upstream.place(configMap('settings'), { east: active });
    await until('present', async () => (await upstream.slice(ref))?.present);
    await upstream.remove(ref);
    await until('absent', async () => (await upstream.slice(ref))?.present === false);
    await upstream.dropSlices(ref);
    await upstream.shares(ref, { east: leaving });
    await until('absent again', async () => (await upstream.slice(ref))?.present === false);
    expect(await upstream.slice(ref)).toEqual({ present: false });
  });
});
