import { describe, expect, it } from 'vitest';
import type { Share } from '../../../cluster/types.ts';
import { byClaim, type VolumeCopy } from '../../../cluster/volume-copy.ts';
import { decideNamespace } from '../../../scheduler/decide.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { annotations, cluster, World } from './world.ts';

const podSpec = { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] };
const active: Share = { phase: 'Active', replicas: 1 };
const fresh: Share = { phase: 'Active', replicas: 0, fresh: true };
const copy = (clusters?: string) => ({
  annotations: { 'atoll.dev/volumes': 'copy', ...(clusters && { 'atoll.dev/clusters': clusters }) },
});

const bind = (world: World, names: readonly string[]) => {
  world.share('data', Object.fromEntries(names.map((name) => [name, { phase: 'Active' as const }])));
  const clusters = Object.fromEntries(
    names.map((name) => [name, { present: true, status: { phase: 'Bound' } }]),
  );
  world.placements = world.placements.map((p) =>
    p.spec?.ref.name === 'data' ? { ...p, status: { clusters } } : p,
  );
};
const say = (world: World, metadata: object): void => {
  world.objects = world.objects.map((o) =>
    o.object.metadata.name === 'one' ? deployment('one', { podSpec, metadata }) : o,
  );
};

const copied = (phase: 'Copied' | 'Copying', from = 'a', to = 'b'): VolumeCopy => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'VolumeCopy',
  metadata: { name: 'data' },
  spec: {
    claim: 'data',
    physicalNamespace: 'n',
    from,
    to,
    copier: 'x',
    trip: 't',
    workload: { group: 'apps', resource: 'deployments', name: 'one', uid: 'Deployment-one' },
  },
  status: { phase },
});

/** `one` runs on a, where its claim is; a and b have a copier, c has none. */
function world(...others: ReturnType<typeof deployment>[]): World {
  const one = deployment('one', { podSpec, metadata: { ...copy('a') } });
  const all = new World(one, ...others, placed('PersistentVolumeClaim', 'data'));
  all.clusters = [cluster('a', { copier: 'x' }), cluster('b', { copier: 'x' }), cluster('c')];
  all.decide();
  all.share('one', { a: active });
  bind(all, ['a']);
  return all.decide();
}

describe('what takes its data along', () => {
  it('goes where a copier is, and says in its Placement what comes along', () => {
    const all = world();
    say(all, copy('b'));
    expect(all.decide().spec('one')).toMatchObject({ clusters: ['b'], copies: { claims: ['data'] } });
    expect(all.spec('one')?.reasons?.['a']).toContain('its claim data is copied along by x');
  });

  it('says of a set that gets one more cluster that the data of what goes there comes along', () => {
    const volumeClaimTemplates = [{ metadata: { name: 'data' } }];
    const set = (clusters: string) =>
      placed('StatefulSet', 'db', { spec: { replicas: 2, volumeClaimTemplates }, metadata: copy(clusters) });
    const all = new World(set('a'), placed('PersistentVolumeClaim', 'data-db-1'));
    all.clusters = [cluster('a', { copier: 'x' }), cluster('b', { copier: 'x' })];
    all.decide();
    all.share('db', { a: { phase: 'Active', replicas: 2, ordinalsStart: 0 } });
    all.share('data-db-1', { a: { phase: 'Active' } });
    all.placements = all.placements.map((p) =>
      p.spec?.ref.name === 'data-db-1'
        ? { ...p, status: { clusters: { a: { present: true, status: { phase: 'Bound' } } } } }
        : p,
    );
    all.objects = all.objects.map((o) => (o.object.kind === 'StatefulSet' ? set('a,b') : o));
    expect(all.decide().spec('db')).toMatchObject({ clusters: ['a', 'b'] });
    expect(all.spec('db')?.reasons?.['a']).toBe(
      'named by its annotation; what goes elsewhere of its claims is copied along by x',
    );
  });

  it('stays where no copier is between the two', () => {
    const all = world();
    say(all, copy('c'));
    expect(all.decide().spec('one')).toMatchObject({ clusters: ['a'], blocked: true });
    expect(all.spec('one')?.reasons?.['c']).toBe(
      'its claim data on a is to be copied along, and no copier is between the two (spec.copier)',
    );
    all.share('one', { a: active, c: active });
    all.placements = all.placements.map((p) =>
      p.spec?.ref.name === 'one' ? { ...p, spec: { ...p.spec, clusters: ['a', 'c'] } } : p,
    );
    expect(all.decide().spec('one')?.clusters).toEqual(['c']);
    expect(all.spec('one')?.reasons?.['a'] ?? '').not.toContain('copied along');
  });

  it('leaves what is drained for where a copier is', () => {
    const all = world();
    say(all, copy());
    all.clusters = [
      cluster('a', { copier: 'x', drain: true, unschedulable: true }),
      cluster('b', { copier: 'x' }),
      cluster('c'),
    ];
    expect(all.decide().spec('one')?.clusters).toEqual(['b']);
  });

  it('says of what it cannot take along why, where it is driven away, and not to give all up', () => {
    const all = world(deployment('two', { podSpec, metadata: annotations('a') }));
    say(all, copy());
    all.clusters = [cluster('a', { copier: 'x', drain: true }), cluster('b', { copier: 'x' })];
    expect(all.decide().spec('one')).toMatchObject({ clusters: ['a'], blocked: true });
    expect(all.spec('one')?.reasons?.['a']).toBe(
      'its data is to come along, and its claim data is used by Deployment two, too',
    );
  });

  it('stays while another one uses its claim, too', () => {
    const all = world(deployment('two', { podSpec, metadata: annotations('a') }));
    say(all, copy('b'));
    expect(all.decide().spec('one')?.clusters).toEqual(['a']);
    expect(all.spec('one')?.copies).toBeUndefined();
    expect(all.spec('one')?.reasons?.['b']).toBe(
      'its data is to come along, and its claim data is used by Deployment two, too',
    );
  });

  it('takes it along from a Job that has ended, and both leave what is drained; where that says hold, it stays there', () => {
    const ended = (metadata: object = {}) =>
      placed('Job', 'once', {
        spec: { template: { spec: podSpec } },
        status: { conditions: [{ type: 'Complete', status: 'True' }] },
        metadata,
      });
    const all = world(placed('Job', 'once', { spec: { template: { spec: podSpec } } }));
    all.share('once', { a: { phase: 'Active' } });
    say(all, copy('b'));
    expect(all.decide().spec('one')?.clusters, 'it runs').toEqual(['a']);
    const end = (metadata?: object) => {
      all.objects = all.objects.map((o) => (o.object.kind === 'Job' ? ended(metadata) : o));
    };
    end();
    expect(all.settle().spec('one')).toMatchObject({ clusters: ['b'], copies: { claims: ['data'] } });
    expect(all.spec('once')?.clusters).toEqual(['a']);
    expect(all.spec('once')?.requires, 'what becomes of its claim is for others to say').toBeUndefined();
    all.share('one', { b: active });
    bind(all, ['a', 'b']);
    all.copies = byClaim([copied('Copied')]);
    expect(all.decide().spec('data')?.clusters).toEqual(['b']);
    all.share('data', { b: { phase: 'Active' } });
    const { objects } = all;
    all.objects = objects.filter(({ object }) => object.metadata.name !== 'one');
    expect(all.decide().spec('data')?.clusters, 'it is made for nothing that has ended').not.toContain('a');
    all.objects = objects;
    all.clusters = [cluster('a', { copier: 'x', drain: true }), cluster('b', { copier: 'x' })];
    all.decide();
    bind(all, ['a', 'b']);
    expect(all.decide().spec('once')).toMatchObject({ clusters: ['b'] });
    expect(all.spec('once')?.blocked).toBeUndefined();
    end({ annotations: { 'atoll.dev/volumes': 'hold' } });
    expect(all.decide().spec('data')?.clusters).toEqual(['a', 'b']);
  });

  it('goes on taking it along when hold is said on the way, and does not when recreate is', () => {
    const all = world();
    say(all, copy('b'));
    all.decide();
    all.share('one', { a: { phase: 'Active', replicas: 0 }, b: { phase: 'Joining', replicas: 0 } });
    bind(all, ['a', 'b']);
    say(all, annotations('b'));
    expect(all.decide().spec('one')?.copies).toEqual({ claims: ['data'] });
    say(all, { annotations: { 'atoll.dev/volumes': 'recreate', 'atoll.dev/clusters': 'b' } });
    expect(all.decide().spec('one')?.copies).toBeUndefined();
  });

  it('goes on taking it along when another one begins to use its claim on the way', () => {
    const all = world();
    say(all, copy('b'));
    all.decide();
    all.share('one', { a: { phase: 'Active', replicas: 0 }, b: { phase: 'Joining', replicas: 0 } });
    bind(all, ['a', 'b']);
    all.objects = [...all.objects, deployment('two', { podSpec })];
    expect(all.settle().spec('one')?.copies).toEqual({ claims: ['data'] });
  });

  it('has its claim to itself while it is stopped: who begins to use that comes when it is there', () => {
    const all = world();
    say(all, copy('b'));
    all.decide();
    const held = { replicas: 1, since: '2026-01-01T00:00:00Z' };
    all.share('one', { a: { phase: 'Active', replicas: 0, held }, b: { phase: 'Joining', replicas: 0 } });
    bind(all, ['a', 'b']);
    all.objects = [...all.objects, deployment('two', { podSpec, metadata: annotations('b') })];
    expect(all.settle().spec('two')?.clusters ?? []).toEqual([]);
    expect(all.spec('two')?.reasons?.['b']).toBe(
      'its claim data is about to be copied for Deployment one, and nobody begins to use it before that is done',
    );
    all.share('one', { b: active });
    expect(all.settle().spec('two')?.clusters).toEqual(['b']);
    expect(all.spec('one')?.clusters).toEqual(['b']);
  });

  it('stays while an ordinal with data has only been asked for: it would start where its set goes', () => {
    const volumeClaimTemplates = [{ metadata: { name: 'data' } }];
    const set = (replicas: number, clusters: string) =>
      placed('StatefulSet', 'db', { spec: { replicas, volumeClaimTemplates }, metadata: copy(clusters) });
    const at = (replicas: number) => ({ a: { phase: 'Active' as const, replicas, ordinalsStart: 0 } });
    const all = new World(set(1, 'a'), placed('PersistentVolumeClaim', 'data-db-0'));
    all.clusters = [cluster('a', { copier: 'x' }), cluster('b', { copier: 'x' })];
    all.decide();
    all.share('db', at(0));
    all.share('data-db-0', { a: { phase: 'Active' } });
    all.placements = all.placements.map((p) =>
      p.spec?.ref.name === 'data-db-0'
        ? { ...p, status: { clusters: { a: { present: true, status: { phase: 'Bound' } } } } }
        : p,
    );
    const scaled = (replicas: number) => {
      all.objects = all.objects.map((o) => (o.object.kind === 'StatefulSet' ? set(replicas, 'b') : o));
    };
    scaled(1);
    expect(all.decide().spec('db')).toMatchObject({ clusters: ['a'], blocked: true });
    all.share('db', at(1));
    expect(all.decide().spec('db')?.clusters).toEqual(['b']);
  });

  it('stays where it is named for two: its data can come to one', () => {
    const all = world();
    all.clusters = ['a', 'b', 'c'].map((name) => cluster(name, { copier: 'x' }));
    say(all, copy('b,c'));
    expect(all.decide().spec('one')).toMatchObject({ clusters: ['a'], wanted: ['b', 'c'], blocked: true });
    expect(all.spec('one')?.reasons?.['b']).toBe(
      'its claim data on a is to be copied along, and what has one comes to one cluster alone',
    );
    say(all, copy('a,b'));
    expect(all.decide().spec('one')).toMatchObject({ clusters: ['a'], wanted: ['a', 'b'], blocked: true });
    expect(all.spec('one')?.reasons?.['b']).toContain('comes to one cluster alone');
    say(all, copy('b'));
    expect(all.decide().spec('one')?.clusters).toEqual(['b']);
  });
});

describe('data that ran elsewhere and did not come along', () => {
  const held = { replicas: 1, since: '2026-01-01T00:00:00Z' };
  const stopped: Share = { phase: 'Active', replicas: 0, held };

  it('is other data: who went without, and says copy now, does not have it overwritten', () => {
    const all = world();
    say(all, { annotations: { 'atoll.dev/volumes': 'recreate', 'atoll.dev/clusters': 'b' } });
    all.decide();
    all.share('one', { b: active });
    bind(all, ['a', 'b']);
    say(all, copy('b'));
    expect(all.decide().spec('data')?.clusters).toEqual(['a', 'b']);
    say(all, copy('a'));
    expect(all.decide().spec('one')).toMatchObject({ clusters: ['b'], blocked: true });
    expect(all.spec('one')?.reasons?.['a']).toBe(
      'its data is to come along, and its claim data has other data on each of a, b',
    );
    bind(all, ['b']);
    expect(all.decide().spec('one')?.clusters).toEqual(['a']);
  });

  it('is not what was brought where nothing ran: turned back half way, that goes, and it is tried again', () => {
    const all = world();
    say(all, copy('b'));
    all.decide();
    all.share('one', { a: stopped, b: fresh });
    bind(all, ['a', 'b']);
    say(all, copy('a'));
    expect(all.decide().spec('data')?.givenUp).toMatchObject({ b: [] });
    all.share('one', { a: active });
    say(all, copy('b'));
    expect(all.decide().spec('one')?.clusters).toEqual(['b']);
    say(all, copy('a'));
    expect(all.decide().spec('data')?.clusters).toEqual(['a']);
    all.share('one', { a: stopped, b: fresh });
    say(all, copy('b'));
    expect(all.decide().spec('data')).toMatchObject({ clusters: ['a', 'b'] });
    expect(all.spec('data')?.givenUp?.['b']).toBeUndefined();
  });

  it('stays where its workload ran beside another, and has nothing to run just now: nobody copied that', () => {
    const all = world();
    say(all, { annotations: { 'atoll.dev/volumes': 'recreate', 'atoll.dev/clusters': 'a,b' } });
    all.decide();
    all.share('one', { a: active, b: { phase: 'Active', replicas: 0 } });
    bind(all, ['a', 'b']);
    say(all, copy('a,b'));
    all.decide();
    say(all, copy('a'));
    expect(all.decide().spec('one')?.clusters).toEqual(['a']);
    expect(all.spec('data')?.clusters).toEqual(['a', 'b']);
    all.share('one', { a: active });
    expect(all.decide().spec('data')?.clusters).toEqual(['a', 'b']);
  });
});

describe('a claim of its own whose data comes along', () => {
  const where = (found: VolumeCopy[]) => {
    const all = world();
    say(all, copy('b'));
    all.decide();
    all.share('one', { b: active });
    bind(all, ['a', 'b']);
    const { objects, placements, clusters, usage } = all;
    const input = { namespace: all.namespace, objects, placements, clusters, usage, now: 0 };
    const { update } = decideNamespace({ ...input, copies: byClaim(found) });
    const spec = update.find(({ old }) => old.spec?.ref.name === 'data')?.wanted.spec;
    return spec ?? all.spec('data');
  };

  it.each<[string, VolumeCopy[], string[]]>([
    ['it was copied from there', [copied('Copied')], ['b']],
    ['it is being copied', [copied('Copying')], ['a', 'b']],
    ['it was copied from elsewhere', [copied('Copied', 'c')], ['a', 'b']],
    ['nobody says so', [], ['a', 'b']],
  ])('is where it was until what uses it is in place and %s', (_when, found, clusters) => {
    expect(where(found)?.clusters).toEqual(clusters);
  });

  it('leaves where it was copied from, though it was told to go on before it had left there', () => {
    const all = world();
    all.clusters = ['a', 'b', 'c'].map((name) => cluster(name, { copier: 'x' }));
    say(all, copy('b'));
    all.decide();
    all.share('one', { b: active });
    bind(all, ['a', 'b']);
    all.copies = byClaim([copied('Copied')]);
    // Copied, and not in place yet.
    all.objects = all.objects.map((o) =>
      o.object.metadata.name === 'one'
        ? deployment('one', {
            podSpec,
            metadata: { ...copy('b'), generation: 2 },
            status: { observedGeneration: 1 },
          })
        : o,
    );
    expect(all.decide().spec('data')).toMatchObject({ clusters: ['a', 'b'], copiedFrom: ['a'] });
    say(all, copy('c'));
    all.copies = byClaim([copied('Copying', 'b', 'c')]);
    expect(all.decide().spec('one'), 'what is on a holds nobody').toMatchObject({ clusters: ['c'] });
    all.share('one', { b: { phase: 'Active', replicas: 0 }, c: fresh });
    bind(all, ['a', 'b', 'c']);
    expect(all.decide().spec('data')?.clusters).toEqual(['a', 'b', 'c']);
    all.share('one', { c: active });
    all.copies = byClaim([copied('Copied', 'b', 'c')]);
    expect(all.decide().spec('data')?.clusters).toEqual(['c']);
    // Back on a it is written there anew.
    bind(all, ['a', 'c']);
    say(all, copy('a'));
    all.decide();
    all.share('one', { a: active });
    expect(all.decide().spec('data')?.copiedFrom ?? []).not.toContain('a');
  });
});
