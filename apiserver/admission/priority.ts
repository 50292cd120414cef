import type { KubeObject } from '../../kube/object.ts';
import { systemPriority } from '../../kube/priority-classes.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { isWriteOf, refusal, specOf, staysHere } from './pods.ts';

const classes = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };

interface Priority {
  name: string;
  value: number;
  preemption: string;
}

/** A Pod's class says its priority. https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/ */
export const priorityAdmission: AdmissionPlugin = {
  name: 'Priority',
  mutate(request) {
    const { object, old } = request;
    if (!object || !isWriteOf(request, '', 'pods', writes)) return undefined;
    const spec = specOf(object);
    if (request.operation === 'UPDATE') {
      const before = (old?.spec ?? {}) as Record<string, unknown>;
      for (const field of ['priority', 'preemptionPolicy']) {
        if (spec[field] === undefined && before[field] !== undefined) spec[field] = before[field];
      }
      return undefined;
    }
    return fillPriority(request, spec);
  },
  validate(request) {
    const { object } = request;
    if (!object || !isWriteOf(request, classes.group, classes.resource, writes)) return undefined;
    staysHere(request, 'PriorityClass');
    return object['globalDefault'] ? beOnlyDefault(request, object) : undefined;
  },
};

const writes = ['CREATE', 'UPDATE'];

async function fillPriority(request: AdmissionRequest, spec: Record<string, unknown>): Promise<void> {
  const { name, value, preemption } = await priorityOf(request, String(spec['priorityClassName'] ?? ''));
  const { priority, preemptionPolicy } = spec;
  if (priority !== undefined && priority !== null && priority !== value) {
    const why = `the integer value of priority (${priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
    throw refusal(request, why);
  }
  if (preemptionPolicy && preemptionPolicy !== preemption) {
    const why = `the string value of PreemptionPolicy (${preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemption} from the given PriorityClass name`;
    throw refusal(request, why);
  }
  if (name !== '') spec['priorityClassName'] = name;
  spec['priority'] = value;
  spec['preemptionPolicy'] = preemption;
}

async function beOnlyDefault(request: AdmissionRequest, object: KubeObject): Promise<void> {
  const items = await request.registry.recent({ ...classes, cluster: request.cluster });
  const other = items.find((one) => one['globalDefault'] && one.metadata.name !== object.metadata.name);
  if (other === undefined) return;
  const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
  throw refusal(request, why);
}

async function priorityOf(request: AdmissionRequest, wanted: string): Promise<Priority> {
  const items = await request.registry.recent({ ...classes, cluster: request.cluster });
  if (wanted === '') {
    const defaults = items.filter((one) => one['globalDefault']).map(toPriority);
    const lowest = defaults.sort((a, b) => a.value - b.value)[0];
    return lowest ?? { name: '', value: 0, preemption: 'PreemptLowerPriority' };
  }
  const found = items.find((one) => one.metadata.name === wanted);
  if (found !== undefined) return toPriority(found);
  // Every cluster has these, whether or not somebody has looked for the objects.
  const value = systemPriority(wanted);
  if (value !== undefined) return { name: wanted, value, preemption: 'PreemptLowerPriority' };
  throw refusal(request, `no PriorityClass with name ${wanted} was found`);
}

function toPriority(one: KubeObject): Priority {
  return {
    name: one.metadata.name ?? '',
    value: Number(one['value'] ?? 0),
    preemption: String(one['preemptionPolicy'] ?? 'PreemptLowerPriority'),
  };
}
