import { validateDns1123Subdomain } from '../names.ts';
import { mismatches, type Shape } from '../shape.ts';
import type { StatusCause } from '../status.ts';
import { isRecord } from '../untyped.ts';
import { Field } from '../validation/field.ts';
import { decodeYaml } from '../yaml.ts';
import { type GroupResources, levels, type Policy, type PolicyRule, stages } from './types.ts';

const shape: Shape = {
  apiVersion: 'string',
  kind: 'string',
  omitStages: ['string'],
  omitManagedFields: 'boolean',
  rules: [
    {
      level: 'string',
      users: ['string'],
      userGroups: ['string'],
      verbs: ['string'],
      resources: [{ group: 'string', resources: ['string'], resourceNames: ['string'] }],
      namespaces: ['string'],
      nonResourceURLs: ['string'],
      omitStages: ['string'],
      omitManagedFields: 'boolean',
    },
  ],
};

/** A policy, and what of it is not understood: kube-apiserver, too, goes on with the rest, and says so. */
export interface ReadPolicy {
  policy: Policy;
  warnings: string[];
}

/** From YAML or JSON. Throws Error, whose message says all that is wrong, in kube-apiserver's words. */
export function readPolicy(source: string): ReadPolicy {
  const { value, duplicates } = decodeYaml(source) as { value: unknown; duplicates: string[] };
  if (!isRecord(value)) throw new Error("failed decoding: Object 'Kind' is missing");
  const { apiVersion, kind, metadata: _, ...policy } = value;
  if (kind !== 'Policy' || apiVersion !== 'audit.k8s.io/v1') {
    const named = `no kind ${JSON.stringify(kind ?? '')} is registered for version ${JSON.stringify(apiVersion ?? '')}`;
    throw new Error(`failed decoding: ${named}`);
  }
  const problems = mismatches(policy, shape);
  const unknown = problems.filter((problem) => problem.startsWith('unknown field '));
  const wrong = problems.filter((problem) => !unknown.includes(problem));
  if (wrong.length > 0) throw new Error(`failed decoding: ${wrong.join(', ')}`);
  const read = { ...policy, rules: policy['rules'] ?? [] } as unknown as Policy;
  const causes: StatusCause[] = [];
  checkPolicy(read, new Field(causes));
  const told = causes.map(({ field, message }) => `${field}: ${message}`);
  if (told.length > 0) throw new Error(told.length === 1 ? told[0] : `[${told.join(', ')}]`);
  if (read.rules.length === 0) throw new Error('loaded illegal policy with 0 rules');
  return { policy: read, warnings: [...duplicates, ...unknown] };
}

function checkPolicy({ rules, omitStages }: Policy, field: Field): void {
  checkStages(omitStages, field.child('omitStages'));
  rules.forEach((rule, index) => {
    checkRule(rule, field.child('rules').index(index));
  });
}

function checkRule(rule: PolicyRule, field: Field): void {
  const { level, nonResourceURLs, resources, namespaces, omitStages } = rule;
  if (!level) field.child('level').required();
  else if (!levels.includes(level)) field.child('level').notSupported(level, [...levels]);
  const urls = nonResourceURLs ?? [];
  const urlField = field.child('nonResourceURLs');
  urls.forEach((url, index) => {
    checkUrl(url, urlField.index(index));
  });
  for (const one of resources ?? []) checkResources(one, field.child('resources'));
  checkStages(omitStages, field.child('omitStages'));
  if (urls.length > 0 && (resources?.length || namespaces?.length))
    urlField.invalid(urls, 'rules cannot apply to both regular resources and non-resource URLs');
}

function checkUrl(url: string, field: Field): void {
  if (url === '*') return;
  if (!url.startsWith('/')) field.invalid(url, "non-resource URL rules must begin with a '/' character");
  if (url.slice(0, -1).includes('*'))
    field.invalid(url, "non-resource URL wildcards '*' must be the final character of the rule");
}

function checkResources({ group, resources, resourceNames }: GroupResources, field: Field): void {
  if (group && group !== '*') {
    const wrong = validateDns1123Subdomain(group);
    if (wrong.length > 0) field.child('group').invalid(group, wrong.join(','));
  }
  if (resourceNames?.length && !resources?.length)
    field.child('resourceNames').invalid(resourceNames, 'using resourceNames requires at least one resource');
}

function checkStages(named: readonly string[] | undefined, field: Field): void {
  (named ?? []).forEach((stage, index) => {
    if (!(stages as readonly string[]).includes(stage))
      field.index(index).invalid(stage, `allowed stages are ${stages.join(',')}`);
  });
}
