import { clustersAnnotation, isSystemNamespace, placedByAnnotation } from '../../cluster/names.ts';
import { reflectedFrom } from '../../cluster/reflected.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { at, listAt, record, records, textAt } from '../../kube/untyped.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { isCopied } from './placement.ts';
import { requirePlace } from './placement-authorize.ts';
import { isWriteOf, specOf } from './pods.ts';

/**
 * A Pod that names a node which is shown here runs on that one, as `kubectl debug node/NAME` counts on. The name in its spec is by and by
 * that of whichever node it has, and stays here; what goes along is its node affinity, which may name the node itself. Where whoever
 * makes it may place on the node's cluster, and nothing else is said, that is its cluster. A name that is not among the nodes shown is
 * told of; where none is shown yet it may be any.
 */
export const namedNodeAdmission: AdmissionPlugin = {
  name: 'NamedNode',
  mutate(request) {
    const { object, user } = request;
    if (!object || !isWriteOf(request, '', 'pods') || isOwnController(user)) return undefined;
    if (isSystemNamespace(request.namespace)) return undefined;
    const name = textAt(object, 'spec', 'nodeName') || requiredNode(object.spec);
    return name ? runOn(request, object, name) : undefined;
  },
};

async function runOn(request: AdmissionRequest, object: KubeObject, name: string): Promise<void> {
  const { registry, cluster } = request;
  const nodes = { cluster, group: '', resource: 'nodes' };
  const [node] = await registry.recent({ ...nodes, name });
  if (!node && textAt(object, 'spec', 'nodeName') === name && (await registry.recent(nodes)).some(isShown))
    request.warn(`spec.nodeName: no node ${name} is shown here: it says nothing of where the pod runs`);
  const [where] = node ? reflectedFrom(node) : [];
  if (where === undefined) return;
  bindTo(specOf(object), name);
  const { [placedByAnnotation]: _, ...annotations } = object.metadata.annotations ?? {};
  // In a copy the scheduler's word for another is left out.
  const isSaid = annotations[clustersAnnotation] !== undefined && !isCopied(request, object);
  if (isSaid || !(await mayPlace(request, object, where))) return;
  object.metadata.annotations = { ...annotations, [clustersAnnotation]: where };
}

/** Of a physical cluster, and not somebody's own object. */
function isShown(node: KubeObject): boolean {
  return reflectedFrom(node).length > 0;
}

async function mayPlace(request: AdmissionRequest, object: KubeObject, where: string): Promise<boolean> {
  try {
    await requirePlace(request, object, { names: [where], by: 'node' });
    return true;
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return false;
    throw error;
  }
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** The only node that its affinity allows. */
export function requiredNode(spec: unknown): string | undefined {
  const terms = listAt(spec, 'affinity', 'nodeAffinity', required, 'nodeSelectorTerms');
  const [name, ...others] = new Set(terms.map(nodeOfTerm));
  return others.length === 0 ? name : undefined;
}

function nodeOfTerm(term: unknown): string | undefined {
  const field = listAt(term, 'matchFields').find((one) => at(one, 'operator') === 'In');
  const [name, ...others] = listAt(field, 'values');
  return typeof name === 'string' && others.length === 0 ? name : undefined;
}

/** In place, as the controller of a DaemonSet has it of its pods: each of the terms, of which one has to hold, names the node. */
export function bindTo(spec: Record<string, unknown>, name: string): void {
  const affinity = record(spec['affinity']);
  const near = record(affinity['nodeAffinity']);
  const terms = records(record(near[required])['nodeSelectorTerms']);
  const named = { key: 'metadata.name', operator: 'In', values: [name] };
  const bound = (terms.length > 0 ? terms : [{}]).map((term) => {
    const fields = listAt(term, 'matchFields');
    return fields.some((one) => deepEqual(one, named)) ? term : { ...term, matchFields: [...fields, named] };
  });
  spec['affinity'] = { ...affinity, nodeAffinity: { ...near, [required]: { nodeSelectorTerms: bound } } };
}
