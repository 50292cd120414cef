import { describe, expect, it } from 'vitest';
import { type PlacedObject, refKey, refOf } from '../../../cluster/closure.ts';
import { placedKinds } from '../../../cluster/kinds.ts';
import type { Placement } from '../../../cluster/types.ts';
import { scopeOf } from '../../../scheduler/scope.ts';
import { namesClusters } from '../../../scheduler/wishes.ts';
import { deployment, placed } from '../cluster/objects.ts';

function scope(objects: readonly PlacedObject[], placements: readonly Placement[] = []) {
  const of = (kind: PlacedObject['kind']) => objects.filter((o) => o.kind === kind).map((o) => o.object);
  const view = {
    all: of,
    wishing: (kind: PlacedObject['kind']) => of(kind).filter((o) => namesClusters(o)),
    get: (kind: PlacedObject['kind'], name: string) => of(kind).find((o) => o.metadata.name === name),
  };
  const found = scopeOf(placedKinds, view, placements);
  return {
    objects: found.objects.map((o) => refKey(refOf(o))).sort(),
    mentioned: [...found.mentioned].sort(),
  };
}

const unused = [placed('ConfigMap', 'x'), placed('Secret', 'x'), placed('PersistentVolumeClaim', 'x')];

describe('scopeOf', () => {
  it('leaves out what nothing names', () => {
    expect(scope(unused)).toEqual({ objects: [], mentioned: [] });
  });

  it('looks for what pods name, whether it exists or not', () => {
    const podSpec = { volumes: [{ configMap: { name: 'conf' } }, { secret: { secretName: 'later' } }] };
    const found = scope([deployment('web', { podSpec }), placed('ConfigMap', 'conf'), ...unused]);
    expect(found.objects).toEqual(['configmaps/conf', 'deployments.apps/web']);
    expect(found.mentioned).toEqual(['configmaps/conf', 'secrets/later', 'serviceaccounts/default']);
  });

  it('follows a ServiceAccount to its Secrets and an Ingress to its certificate', () => {
    const account = placed('ServiceAccount', 'sa', { imagePullSecrets: [{ name: 'pull' }] });
    const ingress = placed('Ingress', 'in', { spec: { tls: [{ secretName: 'cert' }] } });
    const web = deployment('web', { podSpec: { serviceAccountName: 'sa' } });
    const secrets = [placed('Secret', 'pull'), placed('Secret', 'cert')];
    const found = scope([web, account, ingress, ...secrets, ...unused]);
    expect(found.mentioned).toEqual(['secrets/cert', 'secrets/pull', 'serviceaccounts/sa']);
    expect(found.objects).toEqual(expect.arrayContaining(['secrets/cert', 'secrets/pull']));
  });

  it('keeps what asks for clusters itself, and what is or was placed', () => {
    const asking = placed('ConfigMap', 'asks', { metadata: { annotations: { 'atoll.dev/clusters': 'a' } } });
    const spec = {
      ref: { group: '', version: 'v1', resource: 'secrets', kind: 'Secret', name: 'is', uid: 'Secret-is' },
      clusters: ['a'],
      requires: [{ group: '', resource: 'configmaps', name: 'was' }],
    };
    const placement = {
      kind: 'Placement',
      apiVersion: 'atoll.dev/v1alpha1',
      metadata: {},
      spec,
    } as Placement;
    const found = scope([asking, placed('Secret', 'is'), ...unused], [placement]);
    expect(found.objects).toEqual(['configmaps/asks', 'secrets/is']);
    expect(found.mentioned).toEqual(['configmaps/asks', 'configmaps/was', 'secrets/is']);
  });
});
