import { group as ownGroup } from '../../cluster/names.ts';
import { bootstrapFlows, flowGroup, flowResources } from '../../kube/flow/bootstrap.ts';
import { decodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { schedulingGroup, systemClasses } from '../../kube/priority-classes.ts';
import { bootstrapObjects, rbacResources } from '../../kube/rbac/bootstrap.ts';
import { rbacGroup } from '../../kube/rbac/rule.ts';
import { listAt } from '../../kube/untyped.ts';
import type { Range } from '../../storage/store.ts';
import { type Amounts, nothing } from './decide.ts';

/** All objects, and nothing of what is the server's own. */
export const everything: Range = { start: '/0', end: '0' };

const openingBrace = 0x7b;
const definitions = '/apiextensions.k8s.io/customresourcedefinitions/';
const hooks = /^\/admissionregistration[.]k8s[.]io\/(?:validating|mutating)webhookconfigurations\//;

/** The logical cluster whose share a key counts against; empty: nobody's. */
export function clusterOf(key: string): string {
  if (!key.startsWith('/') || key.startsWith('/!')) return '';
  const group = key.indexOf('/', 1);
  const resource = key.indexOf('/', group + 1);
  const cluster = key.indexOf('/', resource + 1);
  if (group < 0 || resource < 0 || cluster < 0) return '';
  // Placements, and notes about what is written: the system's, of which nobody else can make more.
  if (key.startsWith(`${ownGroup}/`, 1) || key[group + 1] === '!') return '';
  return key.slice(resource + 1, cluster);
}

/** What an object is counted as. The default roles, bindings, FlowSchemas and PriorityClasses, which nobody made, are no objects here. */
export function amountsOf(key: string, value: Uint8Array): Amounts {
  const amounts = nothing();
  amounts.objects = isDefault(key) ? 0 : 1;
  amounts.bytes = value.length;
  if (key.startsWith(definitions)) amounts.customResourceDefinitions = 1;
  else if (isHooks(key)) amounts.webhooks = webhooksIn(value);
  return amounts;
}

/** Of these, a few bytes more may be many webhooks more. */
export function isHooks(key: string): boolean {
  return key.startsWith('/admissionregistration') && hooks.test(key);
}

/** Of what is encrypted nobody can tell here. */
function webhooksIn(value: Uint8Array): number {
  if (value[0] !== openingBrace) return 1;
  return listAt(decodeJson(value).value, 'webhooks').length;
}

const groups = [`/${rbacGroup}/`, `/${flowGroup}/`, `/${schedulingGroup}/`];
const defaults = new Map<string, ReadonlySet<string>>();

function isDefault(key: string): boolean {
  if (!groups.some((group) => key.startsWith(group))) return false;
  const [, , resource = '', , ...place] = key.split('/');
  let known = defaults.get(resource);
  if (known === undefined) {
    known = new Set(
      defaultsOf(resource).map(({ metadata: { namespace, name } }) =>
        [namespace, name].filter(Boolean).join('/'),
      ),
    );
    defaults.set(resource, known);
  }
  return known.has(place.join('/'));
}

function defaultsOf(resource: string): readonly KubeObject[] {
  const role = rbacResources.find((one) => one === resource);
  if (role !== undefined) return bootstrapObjects(role);
  if (resource === 'priorityclasses') return systemClasses;
  const flow = flowResources.find((one) => one === resource);
  return flow === undefined ? [] : bootstrapFlows(flow);
}
