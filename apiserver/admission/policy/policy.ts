import type { KubeObject } from '../../../kube/object.ts';
import type { LabelSelector } from '../../../kube/selector.ts';
import { at, listAt, record, records, strings, text, textAt } from '../../../kube/untyped.ts';
import { type Rule, type Selecting, selectingOf } from '../matching/selecting.ts';

/** Which requests are meant: absent rules of a binding mean all that its policy means. */
export interface Resources {
  selecting: Selecting;
  excluded: Rule[];
  isAny: boolean;
}

export interface Named {
  name: string;
  expression: string;
}

export interface Validation {
  expression: string;
  message: string;
  messageExpression: string;
  reason: string;
}

/** Of either kind, defaults filled in. */
export interface Policy {
  name: string;
  resources: Resources;
  ignoresFailure: boolean;
  paramKind: { apiVersion: string; kind: string } | undefined;
  matchConditions: Named[];
  variables: Named[];
}

export interface ValidatingPolicy extends Policy {
  validations: Validation[];
  /** What an audit event is to say beside, by the key's last part. */
  annotations: Named[];
}

export interface MutatingPolicy extends Policy {
  mutations: Mutation[];
  /** Once more where the object has changed since. */
  reinvoke: boolean;
}

export interface Mutation {
  type: 'ApplyConfiguration' | 'JSONPatch';
  expression: string;
}

export interface ParamRef {
  name: string;
  namespace: string;
  selector: LabelSelector | undefined;
  allowsMissing: boolean;
}

/** Of either kind; one of a mutating policy has no actions. */
export interface Binding {
  name: string;
  policy: string;
  resources: Resources;
  paramRef: ParamRef | undefined;
  actions: string[];
}

function policyOf(object: KubeObject): Policy {
  const spec = record(object.spec);
  const kind = at(spec, 'paramKind');
  return {
    name: object.metadata.name ?? '',
    resources: resourcesOf(at(spec, 'matchConstraints')),
    ignoresFailure: at(spec, 'failurePolicy') === 'Ignore',
    paramKind: kind ? { apiVersion: text(at(kind, 'apiVersion')), kind: text(at(kind, 'kind')) } : undefined,
    matchConditions: named(at(spec, 'matchConditions')),
    variables: named(at(spec, 'variables')),
  };
}

export function validatingPolicyOf(object: KubeObject): ValidatingPolicy {
  const validations = records(at(object.spec, 'validations')).map((one) => ({
    expression: text(one['expression']),
    message: text(one['message']),
    messageExpression: text(one['messageExpression']),
    reason: text(one['reason']) || 'Invalid',
  }));
  const annotations = records(at(object.spec, 'auditAnnotations')).map((one) => ({
    name: text(one['key']),
    expression: text(one['valueExpression']),
  }));
  return { ...policyOf(object), validations, annotations };
}

export function mutatingPolicyOf(object: KubeObject): MutatingPolicy {
  const mutations = records(at(object.spec, 'mutations')).map((one): Mutation => {
    const type = one['patchType'] === 'JSONPatch' ? 'JSONPatch' : 'ApplyConfiguration';
    const given = type === 'JSONPatch' ? one['jsonPatch'] : one['applyConfiguration'];
    return { type, expression: text(at(given, 'expression')) };
  });
  const reinvoke = at(object.spec, 'reinvocationPolicy') === 'IfNeeded';
  return { ...policyOf(object), mutations, reinvoke };
}

export function bindingOf(object: KubeObject): Binding {
  const ref = at(object, 'spec', 'paramRef');
  return {
    name: object.metadata.name ?? '',
    policy: textAt(object, 'spec', 'policyName') ?? '',
    resources: resourcesOf(at(object, 'spec', 'matchResources')),
    paramRef: ref ? paramRefOf(ref) : undefined,
    actions: strings(at(object, 'spec', 'validationActions')),
  };
}

function paramRefOf(ref: unknown): ParamRef {
  return {
    name: text(at(ref, 'name')),
    namespace: text(at(ref, 'namespace')),
    selector: at(ref, 'selector') as LabelSelector | undefined,
    allowsMissing: at(ref, 'parameterNotFoundAction') === 'Allow',
  };
}

function resourcesOf(given: unknown): Resources {
  const raw = record(given);
  const selecting = selectingOf(raw, 'resourceRules');
  const { rules: excluded } = selectingOf(raw, 'excludeResourceRules');
  return { selecting, excluded, isAny: listAt(raw, 'resourceRules').length === 0 };
}

function named(list: unknown): Named[] {
  return records(list).map((one) => ({ name: text(one['name']), expression: text(one['expression']) }));
}
