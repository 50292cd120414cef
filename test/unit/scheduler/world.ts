import { expect } from 'vitest';
import type { PlacedObject } from '../../../cluster/closure.ts';
import type { PhysicalCluster, PhysicalClusterSpec, Placement, Share } from '../../../cluster/types.ts';
import { deepEqual } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { decideNamespace } from '../../../scheduler/decide.ts';
import type { Layers } from '../../../scheduler/policies.ts';
import type { NamespaceDecision, NamespaceInput } from '../../../scheduler/types.ts';

export type Fields = Partial<PhysicalClusterSpec> & { ready?: boolean };

export const cluster = (name: string, { ready = true, ...spec }: Fields = {}): PhysicalCluster => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name },
  spec: { kubeconfigSecretRef: { namespace: 'n', name }, ...spec },
  status: {
    conditions: [
      {
        type: 'Ready',
        status: ready ? 'True' : 'False',
        reason: 'Silent',
        message: '',
        lastTransitionTime: '',
      },
    ],
  },
});
export const annotations = (clusters: string, by?: string) => ({
  annotations: { 'atoll.dev/clusters': clusters, ...(by && { 'atoll.dev/placed-by': by }) },
});
export const namespace = (clusters?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', ...(clusters !== undefined && annotations(clusters, 'admin')) },
});
const scheduler = 'system:atoll:scheduler';

/** A namespace that the decisions are applied to, as the API server would. */
export class World {
  objects: PlacedObject[] = [];
  placements: Placement[] = [];
  clusters: PhysicalCluster[] = [cluster('a'), cluster('b'), cluster('c')];
  namespace: KubeObject | undefined = namespace();
  usage: NamespaceInput['usage'] = new Map();
  /** Default: usage. */
  settled: NamespaceInput['usage'] | undefined;
  policies: Layers = [];
  leaving: NamespaceInput['leaving'];
  copies: NonNullable<NamespaceInput['copies']> = new Map();
  unknown = new Set<string>();
  explains = false;
  unread = new Map<string, string>();
  now = 0;
  startedAt = 0;
  last: NamespaceDecision | undefined;

  constructor(...objects: PlacedObject[]) {
    this.objects = objects;
  }

  /** Decides and applies, and checks that deciding again changes nothing. */
  decide(): this {
    this.last = this.#once();
    const again = this.#once();
    expect({
      ...again,
      usage: undefined,
      settled: undefined,
      blocked: undefined,
      lookAgain: undefined,
      open: undefined,
      toleratedUntil: undefined,
      leaving: undefined,
      waiting: undefined,
      turnUntil: undefined,
      kept: undefined,
    }).toEqual({
      annotate: [],
      create: [],
      update: [],
      remove: [],
      leaveData: [],
      finish: [],
    });
    return this;
  }

  /** The same, where what one does lets another do something: as often as something goes elsewhere, but not for ever. */
  settle(most = 5): this {
    const clusters = () => this.placements.map(({ spec }) => [spec?.ref.name, spec?.clusters]);
    for (let left = most; left > 0; left--) {
      const before = clusters();
      this.#once();
      if (deepEqual(clusters(), before)) break;
      expect(left).toBeGreaterThan(1);
    }
    return this.decide();
  }

  #once(): NamespaceDecision {
    const { objects, placements, clusters, usage, policies, leaving, copies, now, startedAt } = this;
    const { settled = usage, unknown, unread, explains } = this;
    const world = {
      unread,
      unknown,
      explains,
      objects,
      placements,
      clusters,
      usage,
      settled,
      policies,
      leaving,
      copies,
      now,
      startedAt,
    };
    const decision = decideNamespace({ namespace: this.namespace, ...world });
    this.placements = [
      ...placements
        .filter((p) => !decision.remove.includes(p))
        .map((p) => decision.update.find((u) => u.old === p)?.wanted ?? p),
      ...decision.create,
    ];
    for (const { placed: of, clusters: value } of decision.annotate) {
      const {
        'atoll.dev/clusters': _where,
        'atoll.dev/placed-by': _who,
        ...rest
      } = of.object.metadata.annotations ?? {};
      const ours = value === undefined ? {} : annotations(value, scheduler).annotations;
      const metadata = { ...of.object.metadata, annotations: { ...rest, ...ours } };
      this.objects = this.objects.map((o) => (o === of ? { ...o, object: { ...o.object, metadata } } : o));
    }
    return decision;
  }

  spec(name: string) {
    return this.placements.find((p) => p.spec?.ref.name === name)?.spec;
  }

  share(name: string, shares: Record<string, Share>): void {
    this.placements = this.placements.map((p) =>
      p.spec?.ref.name === name ? { ...p, spec: { ...p.spec, shares } } : p,
    );
  }

  note(name: string): string | undefined {
    return this.objects.find((o) => o.object.metadata.name === name)?.object.metadata.annotations?.[
      'atoll.dev/clusters'
    ];
  }
}
