import { setTimeout as sleep } from 'node:timers/promises';
import type { Sent } from '../fidelity/wire.ts';
import { definitionName } from './definition.ts';
import { lies } from './lies.ts';
import { apply, ask, define, definitions, merge, type Side, settle, widget, widgets } from './scenario.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field.
type Loose = any;

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** What is written in one version is read in the other, by each verb. */
export async function verbs(side: Side): Promise<void> {
  await define(side, 'v1');
  const post = (version: 'v1' | 'v2', body: object, query = '') =>
    ask(side, `create in ${version}`, { method: 'POST', path: widgets(version) + query, body });
  await post('v1', widget('v1', 'a', { size: 1, host: 'one:80' }, { labels: { app: 'a' } }));
  await post('v2', widget('v2', 'b', { size: 2, hostName: 'two', port: 81 }, { labels: { app: 'b' } }));
  await post('v2', widget('v2', 'tried', { size: 2, hostName: 'two', port: 81 }), '?dryRun=All');
  await post('v2', widget('v2', 'bad', { size: 2, hostName: 'two', port: -1 }));
  await post('v2', widget('v2', 'bad', { size: 2, hostName: 2, port: 3 }));
  await post('v2', widget('v2', 'strange', { size: 2, what: 1 }), '?fieldValidation=Strict');
  for (const version of ['v1', 'v2']) {
    for (const name of ['a', 'b', 'none'])
      await ask(side, `get ${name} in ${version}`, { method: 'GET', path: widgets(version, name) });
    await ask(side, `list in ${version}`, { method: 'GET', path: widgets(version) });
    await ask(side, `table in ${version}`, { method: 'GET', path: widgets(version), accept: table });
    for (const query of ['labelSelector=app%3Db', 'fieldSelector=spec.hostName%3Dtwo', 'limit=1'])
      await ask(side, `list in ${version} ${query}`, { method: 'GET', path: `${widgets(version)}?${query}` });
  }
  const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  await ask(side, 'metadata in v2', { method: 'GET', path: widgets('v2'), accept: partial });
  await changes(side);
  await ask(side, 'delete in v2', { method: 'DELETE', path: widgets('v2', 'a') });
  await ask(side, 'deletecollection in v2', { method: 'DELETE', path: widgets('v2') });
  await ask(side, 'nothing is left', { method: 'GET', path: widgets('v1') });
}

async function changes(side: Side): Promise<void> {
  const patch = (step: string, path: string, body: unknown, contentType: string) =>
    ask(side, step, { method: 'PATCH', path, body: JSON.stringify(body), contentType });
  await patch('merge patch in v2', widgets('v2', 'a'), { spec: { port: 8080 } }, merge);
  await patch('merge patch in v1', widgets('v1', 'b'), { spec: { note: 'n' } }, merge);
  const json = [{ op: 'replace', path: '/spec/hostName', value: 'uno' }];
  await patch('json patch in v2', widgets('v2', 'a'), json, 'application/json-patch+json');
  await patch('a patch that the rule of v2 refuses', widgets('v2', 'a'), { spec: { port: 0 } }, merge);
  const now = await ask(side, 'get before put', { method: 'GET', path: widgets('v2', 'a') });
  const put = { ...(now.json as Loose), spec: { size: 5, hostName: 'put', port: 9 } };
  await ask(side, 'put in v2', { method: 'PUT', path: widgets('v2', 'a'), body: put });
  await ask(side, 'a stale put in v2', { method: 'PUT', path: widgets('v2', 'a'), body: put });
  await patch('status in v2', `${widgets('v2', 'a')}/status`, { status: { replicas: 3 } }, merge);
  await ask(side, 'scale in v2', { method: 'GET', path: `${widgets('v2', 'a')}/scale` });
  await patch('scaled in v2', `${widgets('v2', 'a')}/scale`, { spec: { replicas: 7 } }, merge);
  const applied = (version: 'v1' | 'v2', manager: string, spec: object, more = '') =>
    patch(
      `apply in ${version} by ${manager}`,
      `${widgets(version, 'c')}?fieldManager=${manager}${more}`,
      widget(version, 'c', spec),
      apply,
    );
  await applied('v2', 'two', { size: 1, hostName: 'h', port: 1 });
  await applied('v1', 'one', { size: 2 });
  await applied('v1', 'one', { note: 'mine' });
  await applied('v1', 'one', { size: 2 }, '&force=true');
  await applied('v2', 'two', { hostName: 'h', port: 2 });
  await ask(side, 'applied in v1', { method: 'GET', path: widgets('v1', 'c') });
}

/** A webhook that fails, and ones that lie. */
export async function failures(side: Side): Promise<void> {
  await define(side, 'v1');
  const { hook } = side;
  await ask(side, 'made', {
    method: 'POST',
    path: widgets('v1'),
    body: widget('v1', 'a', { size: 1, host: 'one:80' }, { labels: { app: 'a' } }),
  });
  for (const [name, lie] of Object.entries(lies)) {
    Object.assign(hook, { lie: undefined, raw: undefined }, lie);
    const path = widgets('v2', 'a');
    await ask(side, `get: ${name}`, { method: 'GET', path });
    await ask(side, `create: ${name}`, {
      method: 'POST',
      path: widgets('v2'),
      body: widget('v2', 'new', { size: 1 }),
    });
    await ask(side, `patch: ${name}`, {
      method: 'PATCH',
      path,
      body: '{"spec":{"size":3}}',
      contentType: merge,
    });
    await ask(side, `list: ${name}`, { method: 'GET', path: widgets('v2') });
    await ask(side, `delete: ${name}`, { method: 'DELETE', path: `${path}?dryRun=All` });
    await ask(side, `in the stored version: ${name}`, { method: 'GET', path: widgets('v1', 'a') });
    Object.assign(hook, { lie: undefined, raw: undefined });
    await side.wire.send({ method: 'DELETE', path: widgets('v1', 'new') }).then(({ done }) => done);
  }
}

/** Objects of both stored versions, once the definition says another one. */
export async function storageVersion(side: Side): Promise<void> {
  await define(side, 'v1');
  const { hook } = side;
  await ask(side, 'made in v1', {
    method: 'POST',
    path: widgets('v1'),
    body: widget('v1', 'old', { size: 1, host: 'one:80' }),
  });
  await define(side, 'v2');
  // It is taken up a moment later: from then on nobody is asked about what is written in v2.
  for (let made = 0; ; made++) {
    const before = hook.asked.length;
    const path = widgets('v2', `probe-${made}`);
    await side.wire
      .send({ method: 'POST', path: widgets('v2'), body: widget('v2', `probe-${made}`, { size: 1 }) })
      .then(({ done }) => done);
    const asked = hook.asked.length > before;
    await side.wire.send({ method: 'DELETE', path }).then(({ done }) => done);
    if (!asked) break;
    await sleep(100);
  }
  const crd = await side.wire.send({ method: 'GET', path: `${definitions}/${definitionName}` });
  const { storedVersions } = ((await crd.done).json as Loose).status;
  side.told.push({ step: 'stored versions', status: 200, body: storedVersions });
  await ask(side, 'made in v2', {
    method: 'POST',
    path: widgets('v2'),
    body: widget('v2', 'new', { size: 1, hostName: 'two', port: 81 }),
  });
  for (const version of ['v1', 'v2'])
    for (const name of ['old', 'new', ''])
      await ask(side, `get ${name || 'all'} in ${version}`, {
        method: 'GET',
        path: widgets(version, name),
      });
  hook.lie = lies.fails.lie;
  for (const name of ['old', 'new'])
    await ask(side, `get ${name} in v2, without it`, { method: 'GET', path: widgets('v2', name) });
  await ask(side, 'patch old in v1, without it', {
    method: 'PATCH',
    path: widgets('v1', 'old'),
    body: '{"spec":{"size":3}}',
    contentType: merge,
  });
  hook.lie = undefined;
  await ask(side, 'patch old in v1', {
    method: 'PATCH',
    path: widgets('v1', 'old'),
    body: '{"spec":{"size":4}}',
    contentType: merge,
  });
  hook.lie = lies.fails.lie;
  await ask(side, 'get old in v2: it was stored anew', { method: 'GET', path: widgets('v2', 'old') });
  hook.lie = undefined;
}

/** So long Kubernetes is heard to say nothing. */
const silentMs = 3_000;

/** Its lines, once there are so many; or after so long. */
async function linesOf({ watched }: Sent, count: number, ms = 120_000): Promise<Loose[]> {
  if (watched === undefined) throw new Error('that is no watch');
  const lines = () => watched.soFar().split('\n').slice(0, -1).filter(Boolean);
  for (const end = performance.now() + ms; lines().length < count && performance.now() < end; )
    await sleep(20);
  watched.end();
  return lines().map((line) => JSON.parse(line));
}

/**
 * What a watch in another version is told; answers what one is told that cannot be told of the last, `fifth`, where it `tells`
 * of that.
 */
export async function watching(side: Side, tells: boolean): Promise<string[][]> {
  await define(side, 'v1');
  const { hook } = side;
  const make = (name: string) =>
    side.wire
      .send({ method: 'POST', path: widgets('v1'), body: widget('v1', name, { size: 1, host: 'one:80' }) })
      .then(({ done }) => done);
  await make('first');
  await settle(side, { method: 'GET', path: widgets('v2', 'first') }, ({ status }) => status === 200);
  const list = await side.wire.send({ method: 'GET', path: widgets('v2') }).then(({ done }) => done);
  const { resourceVersion } = (list.json as Loose).metadata;
  const watched = await side.wire.send({
    method: 'GET',
    path: `${widgets('v2')}?watch=1&timeoutSeconds=120&resourceVersion=${resourceVersion}`,
    watch: true,
  });
  for (const name of ['second', 'third', 'fourth']) await make(name);
  await side.wire.send({ method: 'DELETE', path: widgets('v1', 'third') }).then(({ done }) => done);
  const lines = await linesOf(watched, 4);
  const events = lines.map(({ type, object }) => [
    type,
    object.apiVersion,
    object.metadata.name,
    object.spec,
  ]);
  side.told.push({ step: 'watch in v2', status: 200, body: events });
  const broken = await side.wire.send({
    method: 'GET',
    path: `${widgets('v2')}?watch=1&timeoutSeconds=120&resourceVersion=${resourceVersion}`,
    watch: true,
  });
  const before = () => (broken.watched?.soFar().match(/\n/g)?.length ?? 0) >= 4;
  for (const end = performance.now() + 120_000; !before() && performance.now() < end; ) await sleep(20);
  hook.lie = lies.fails.lie;
  await make('fifth');
  const told = await (tells ? linesOf(broken, 5) : linesOf(broken, 5, silentMs));
  hook.lie = undefined;
  return told.map(({ type, object }) => [type, object.metadata.name ?? object.message]);
}
