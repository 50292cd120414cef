import type { JsonObject } from '../../kube/object.ts';
import { records } from '../../kube/untyped.ts';
import type { AdmissionPlugin } from '../plugins.ts';
import { isWriteOf, specOf } from './pods.ts';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';
const seconds = 300;

/** True for a toleration of one of these taints, or of all. */
function tolerates({ key, effect }: JsonObject, taint: string): boolean {
  return (key === taint || !key) && (effect === 'NoExecute' || !effect);
}

/**
 * A Pod stays for five minutes on a node that is not ready or cannot be reached, unless it says otherwise.
 * https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#defaulttolerationseconds
 */
export const tolerationAdmission: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate(request) {
    if (!isWriteOf(request, '', 'pods', ['CREATE', 'UPDATE']) || !request.object) return;
    const spec = specOf(request.object);
    const there = records(spec['tolerations']);
    const missing = [notReady, unreachable].filter((key) => !there.some((one) => tolerates(one, key)));
    if (missing.length === 0) return;
    spec['tolerations'] = [
      ...there,
      ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds })),
    ];
  },
};

/**
 * A new node takes no pods until it is known to be ready.
 * https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#taintnodesbycondition
 */
export const nodeTaintAdmission: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  mutate(request) {
    if (!isWriteOf(request, '', 'nodes') || !request.object) return;
    const spec = specOf(request.object);
    const there = records(spec['taints']);
    if (there.some(({ key, effect }) => key === notReady && effect === 'NoSchedule')) return;
    spec['taints'] = [...there, { key: notReady, effect: 'NoSchedule' }];
  },
};
