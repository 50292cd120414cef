import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { openapiOf } from '../kube/openapi/own.ts';
import type { StatusCause } from '../kube/status.ts';
import { validateSchema } from '../kube/validation/custom/schema.ts';
import { Field } from '../kube/validation/field.ts';
import { validateCreate, validateUpdate } from '../kube/validation/index.ts';
import type { Texts } from './kind-texts.ts';
import { volumeCopies } from './names.ts';
import { age, column, computed, info, type OwnResource } from './own.ts';
import { type Fields, int64, kind, object, text } from './schema.ts';
import {
  progressOf,
  type VolumeCopy,
  type VolumeCopySpec,
  type VolumeCopyStatus,
  type WorkloadCopied,
} from './volume-copy.ts';

const workloadTexts: Texts<WorkloadCopied> = {
  group: "The workload's API group.",
  resource: "The workload's resource, such as statefulsets.",
  name: "The workload's name.",
  uid: 'Of this very workload, not of another one of the same name.',
};

const specTexts: Texts<VolumeCopySpec> = {
  claim: 'The name of the PersistentVolumeClaim, on both physical clusters.',
  physicalNamespace: 'The namespace that it is in on both physical clusters.',
  from: 'The physical cluster that has the contents. Nothing there uses the claim.',
  to: 'The physical cluster that is to have them: in the claim of this name, which the copier makes where there is none, and overwrites where there is one.',
  copier: 'Whose it is to do, as both PhysicalClusters say it.',
  workload: 'Which workload waits for it.',
  trip: 'Of which stop of the workload the contents are. A copy of another stop counts no more.',
};

const statusTexts: Texts<VolumeCopyStatus> = {
  phase:
    'Copying: it was taken up. Copied: all is there, and durable. Failed: it will not be; the workload starts again where it was. Absent for a minute, or Copying without a word for ten: the same.',
  message: 'For people: how far it is, or why it failed.',
  bytes: 'How many bytes are there.',
  totalBytes: 'How many are to be there.',
  lastProgressTime: 'When its copier was last at work: to be said at least each ten minutes.',
};

const schema = kind(
  object(
    {
      claim: text,
      physicalNamespace: text,
      from: text,
      to: text,
      copier: text,
      workload: object(
        { group: text, resource: text, name: text, uid: text } satisfies Fields<WorkloadCopied>,
        workloadTexts,
      ),
      trip: text,
    } satisfies Fields<VolumeCopySpec>,
    specTexts,
    ['claim', 'physicalNamespace', 'from', 'to', 'copier', 'trip'],
  ),
  object(
    {
      phase: { type: 'string', enum: ['Copying', 'Copied', 'Failed'] },
      message: text,
      bytes: int64,
      totalBytes: int64,
      lastProgressTime: text,
    } satisfies Fields<VolumeCopyStatus>,
    statusTexts,
  ),
  {
    kind: 'VolumeCopy asks a copier to bring what is on the volume of one claim from one physical cluster to another. The system makes and deletes it; the copier writes its status. To have a failed one tried again, delete it.',
    spec: 'What is to be copied. It never changes.',
    status: 'What its copier says of it.',
  },
  ['spec'],
);

const served = { ...volumeCopies, kind: 'VolumeCopy', namespaced: true };

function validate(copy: KubeObject, old: KubeObject | undefined, subresource: string): StatusCause[] {
  const causes = old
    ? validateUpdate(copy, old, served, subresource === '' ? undefined : subresource)
    : validateCreate(copy, served);
  const { spec, status } = copy;
  const before = old && { spec: old.spec, status: old.status };
  causes.push(
    ...validateSchema({ spec, ...(status !== undefined && { status }) }, openapiOf(schema), '', 0, before),
  );
  if (old && !deepEqual(copy.spec, old.spec))
    new Field(causes).child('spec').invalid('object', 'field is immutable');
  return causes;
}

export const volumeCopy: OwnResource = {
  info: info({ ...served, shortNames: ['vc'] }),
  schema,
  validate,
  columns: [
    column('From', 'string', '.spec.from'),
    column('To', 'string', '.spec.to'),
    column('Phase', 'string', '.status.phase'),
    computed<VolumeCopy>('Progress', progressOf),
    column('Copier', 'string', '.spec.copier', 1),
    column('Workload', 'string', '.spec.workload.name', 1),
    age,
  ],
};
