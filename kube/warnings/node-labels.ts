import { validateLabelValue } from '../names.ts';
import { at, records, strings, text } from '../untyped.ts';

const deprecatedLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods':
    'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
};

/** What to say of a node's label that nobody should use any more. */
export function deprecatedLabel(key: string): string | undefined {
  return Object.hasOwn(deprecatedLabels, key) ? deprecatedLabels[key] : undefined;
}

/** `path` is where the term is. Values count only where a scheduler would take bad ones. */
export function nodeTermWarnings(term: unknown, values: boolean, path: string): string[] {
  return records(at(term, 'matchExpressions')).flatMap((expression, index) => {
    const where = `${path}.matchExpressions[${index}]`;
    const key = text(expression['key']);
    const message = deprecatedLabel(key);
    const out = message === undefined ? [] : [`${where}.key: ${key} is ${message}`];
    if (!values) return out;
    for (const [i, value] of strings(expression['values']).entries()) {
      for (const bad of validateLabelValue(value))
        out.push(`${where}.values[${i}]: ${value} is invalid, ${bad}`);
    }
    return out;
  });
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

export function nodeAffinityWarnings(affinity: unknown, path: string): string[] {
  const terms = records(at(affinity, required, 'nodeSelectorTerms'));
  return [
    ...terms.flatMap((term, i) =>
      nodeTermWarnings(term, false, `${path}.${required}.nodeSelectorTerms[${i}]`),
    ),
    ...records(at(affinity, preferred)).flatMap(({ preference }, i) =>
      nodeTermWarnings(preference, true, `${path}.${preferred}[${i}].preference`),
    ),
  ];
}
