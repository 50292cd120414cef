import type { ObjectSchema } from '../kube/schema/schema.ts';
import { age, column, computed, info, type OwnResource } from './own.ts';
import {
  clusterPlacementPolicies,
  type PlacementPolicy,
  type PlacementPolicySpec,
  type PolicyClusters,
  type PolicyKind,
  type PolicySelector,
  placementPolicies,
  type Toleration,
  type WorkloadTerm,
} from './policy.ts';
import { shownClusters, shownSelector } from './policy-summary.ts';
import { policyTexts as texts } from './policy-texts.ts';
import { validatePolicy } from './policy-validate.ts';
import { any, type Fields, flag, int32, int64, list, map, object, text } from './schema.ts';
import type { TopologySpread } from './spread.ts';

const texted = { type: 'list', items: text, listType: 'set' } as const;
const labelSelector = object(
  {
    matchLabels: map(text),
    matchExpressions: list(
      object({ key: text, operator: text, values: list(text) }, texts.requirement, ['key', 'operator']),
    ),
  },
  texts.labelSelector,
);

const terms = list(
  object({ labelSelector, topologyKey: text } satisfies Fields<WorkloadTerm>, texts.term, ['labelSelector']),
);

const spec = object(
  {
    priority: int32,
    selector: object(
      {
        kinds: list(object({ group: text, kind: text } satisfies Fields<PolicyKind>, texts.kind, ['kind'])),
        names: texted,
        labelSelector,
        namespaces: texted,
        namespaceSelector: labelSelector,
      } satisfies Fields<PolicySelector>,
      texts.selector,
    ),
    clusters: object(
      {
        names: texted,
        groups: list(texted),
        labelSelector,
        expression: text,
        exclude: texted,
        count: int32,
        overflow: flag,
        affinity: terms,
        antiAffinity: terms,
        spread: object(
          { topologyKey: text, replicas: map(int32), maxSkew: int32 } satisfies Fields<TopologySpread>,
          texts.spread,
          ['topologyKey'],
        ),
      } satisfies Fields<PolicyClusters>,
      texts.clusters,
    ),
    tolerations: list(
      object(
        {
          key: text,
          operator: text,
          value: text,
          effect: text,
          tolerationSeconds: int64,
        } satisfies Fields<Toleration>,
        texts.toleration,
      ),
    ),
  } satisfies Fields<PlacementPolicySpec>,
  texts.spec,
);

function policy(kind: 'PlacementPolicy' | 'ClusterPlacementPolicy', namespaced: boolean): OwnResource {
  const names = namespaced ? placementPolicies : clusterPlacementPolicies;
  const fields = { apiVersion: text, kind: text, metadata: any, spec };
  const described = {
    apiVersion: '',
    kind: '',
    metadata: '',
    spec: 'What it is about, and where that runs.',
  };
  const schema: ObjectSchema = { ...object(fields, described, ['spec']), description: texts[kind] };
  const served = { ...names, kind, namespaced };
  return {
    info: { ...info({ ...served, shortNames: [namespaced ? 'pp' : 'cpp'] }), subresources: [] },
    schema,
    validate: (it, old) => validatePolicy({ served, schema }, it, old),
    columns: [
      column('Priority', 'integer', '.spec.priority'),
      computed<PlacementPolicy>('Selects', shownSelector),
      computed<PlacementPolicy>('Clusters', shownClusters),
      age,
    ],
  };
}

export const policyResources: readonly OwnResource[] = [
  policy('PlacementPolicy', true),
  policy('ClusterPlacementPolicy', false),
];
