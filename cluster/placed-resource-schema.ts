import type { ObjectSchema } from '../kube/schema/schema.ts';
import type { Texts } from './kind-texts.ts';
import { age, column, info, type OwnResource } from './own.ts';
import {
  type KindReference,
  type KindRule,
  type PlacedResourceSpec,
  placedResources,
  type StatusRule,
  type StatusWorst,
} from './placed-resource.ts';
import { validatePlacedResource } from './placed-resource-validate.ts';
import { any, type Fields, flag, list, object, text } from './schema.ts';

const worstTexts: Texts<StatusWorst> = {
  path: 'Where the word is, such as .status.phase.',
  values: 'The words, the worst first: of several clusters the first of them that one says counts.',
};

const statusTexts: Texts<StatusRule> = {
  availableReplicasPath:
    'How many replicas are there to be counted on. Default .status.availableReplicas, where that is not said .status.readyReplicas.',
  sums: 'Counters that are added up over the clusters. Default, where it is divided: .status.replicas, .status.readyReplicas, .status.availableReplicas and .status.updatedReplicas.',
  worst: 'Words of which the worst that a cluster says counts.',
};

const referenceTexts: Texts<KindReference> = {
  group: "The resource's API group; absent, the core group.",
  resource: 'The resource, such as services: of those that go along with workloads.',
  path: 'Where its name is, such as .spec.canary.service; lists on the way are looked through.',
};

const ruleTexts: Texts<KindRule> = {
  specReplicasPath:
    "Where its replicas are, as in the definition's scale subresource. Absent: it is not divided, each of its clusters has all of it.",
  templatePath: 'Where the template of its pods is. Default .spec.template.',
  strategy:
    'RollingUpdate, which is the default: it may run in two places while it moves. Recreate: it stops where it is before it starts elsewhere.',
  observesGeneration:
    'Whether its controller says in status.observedGeneration what it has seen. Default true.',
  references: 'What goes along with it beside what the template of its pods names.',
  status: 'How the status of several clusters becomes one.',
  ready:
    'CEL over self, the object as one cluster has it: whether it is in place there. Default: its replicas are available, or, where it is not divided, its condition Ready or Available, if it has one, is True.',
};

const specTexts: Texts<PlacedResourceSpec> = {
  group: 'The API group.',
  version: 'The version in which it is placed. Logical and physical clusters have to serve it.',
  resource: 'The resource, such as rollouts.',
  ...ruleTexts,
};

const rule = {
  specReplicasPath: text,
  templatePath: text,
  strategy: { type: 'string', enum: ['RollingUpdate', 'Recreate'] },
  observesGeneration: flag,
  references: list(
    object({ group: text, resource: text, path: text } satisfies Fields<KindReference>, referenceTexts, [
      'resource',
      'path',
    ]),
  ),
  status: object(
    {
      availableReplicasPath: text,
      sums: list(text),
      worst: list(
        object({ path: text, values: list(text) } satisfies Fields<StatusWorst>, worstTexts, [
          'path',
          'values',
        ]),
      ),
    } satisfies Fields<StatusRule>,
    statusTexts,
  ),
  ready: text,
} as const satisfies Fields<KindRule>;

/** Of a Placement: by which its object was placed. */
export const kindRule: ObjectSchema = object(rule, ruleTexts);

const spec = object(
  { group: text, version: text, resource: text, ...rule } satisfies Fields<PlacedResourceSpec>,
  specTexts,
  ['group', 'version', 'resource'],
);

const served = { ...placedResources, kind: 'PlacedResource', namespaced: false };
const schema: ObjectSchema = {
  ...object(
    { apiVersion: text, kind: text, metadata: any, spec },
    { apiVersion: '', kind: '', metadata: '', spec: 'Of which resource, and how it is placed.' },
    ['spec'],
  ),
  description:
    'PlacedResource says that the objects of a custom resource run on physical clusters, and how. It counts in the logical cluster root.',
};

export const placedResource: OwnResource = {
  info: { ...info(served), subresources: [] },
  schema,
  validate: (it, old) => validatePlacedResource({ served, schema }, it, old),
  columns: [
    column('Version', 'string', '.spec.version'),
    column('Replicas', 'string', '.spec.specReplicasPath'),
    column('Strategy', 'string', '.spec.strategy'),
    age,
  ],
};
