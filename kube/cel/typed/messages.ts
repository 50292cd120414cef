import type { Declarations, Fields } from './environment.ts';
import { overload } from './functions.ts';
import type { KindType } from './kind-type.ts';
import { type CelType, dyn, listOf, mapOf, readType, struct } from './types.ts';

/** Messages that admission policies are given: their fields, `name type`. */
const messages: ReadonlyMap<string, ReadonlyMap<string, CelType>> = new Map(
  Object.entries({
    'kubernetes.GroupVersionKind': 'group string; version string; kind string',
    'kubernetes.GroupVersionResource': 'group string; version string; resource string',
    'kubernetes.UserInfo':
      'username string; uid string; groups list(string); extra map(string, list(string))',
    'kubernetes.AdmissionRequest':
      'kind kubernetes.GroupVersionKind; resource kubernetes.GroupVersionResource; subResource string; ' +
      'requestKind kubernetes.GroupVersionKind; requestResource kubernetes.GroupVersionResource; ' +
      'requestSubResource string; name string; namespace string; operation string; userInfo kubernetes.UserInfo; ' +
      'dryRun bool; options dyn',
    'kubernetes.NamespaceSpec': 'finalizers list(string)',
    'kubernetes.NamespaceCondition':
      'status string; type string; lastTransitionTime timestamp; message string; reason string',
    'kubernetes.NamespaceStatus': 'conditions list(kubernetes.NamespaceCondition); phase string',
    'kubernetes.NamespaceMetadata':
      'name string; generateName string; namespace string; labels map(string, string); ' +
      'annotations map(string, string); UID string; creationTimestamp timestamp; deletionGracePeriodSeconds int; ' +
      'deletionTimestamp timestamp; generation int; resourceVersion string; finalizers list(string)',
    'kubernetes.Namespace':
      'metadata kubernetes.NamespaceMetadata; spec kubernetes.NamespaceSpec; status kubernetes.NamespaceStatus',
    JSONPatch: 'op string; path string; from string; value dyn',
  }).map(([name, fields]) => [name, readFields(fields)]),
);

function readFields(text: string): Map<string, CelType> {
  return new Map(
    text.split('; ').map((field) => {
      const [name = '', ...type] = field.split(' ');
      return [name, readType(type.join(' '))];
    }),
  );
}

/** What the expressions of a policy or of match conditions can name. */
export interface PolicyScope {
  params?: boolean;
  authorizer?: boolean;
  /** Types of a policy's own variables that are declared by then; absent where there can be none. */
  variables?: ReadonlyMap<string, CelType>;
  /** Whether they can make patches. */
  patches?: boolean;
}

/** What the objects are that expressions of a policy are about, where that is known. */
export interface CheckScope {
  object: KindType;
  /** Null: of a kind that nobody knows; undefined: the policy has none. */
  params: KindType | null | undefined;
  variables: ReadonlyMap<string, CelType>;
}

/** What the expressions of a policy can name while their types are checked: nothing here is run, and less is declared. */
export function checkDeclarations({ object, params, variables }: CheckScope): Declarations {
  const { variables: untyped, fields } = policyDeclarations({ params: params !== undefined, variables });
  const named = new Map(untyped).set('object', object.type).set('oldObject', object.type);
  named.set('authorizer', struct('kubernetes.authorization.Authorizer'));
  if (params) named.set('params', params.type);
  return {
    variables: named,
    fields: (message) => object.fields(message) ?? params?.fields(message) ?? fields(message),
  };
}

/** https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#validation-expression */
export function policyDeclarations({ params, authorizer, variables, patches }: PolicyScope): Declarations {
  const named: [string, CelType][] = [
    ['object', dyn],
    ['oldObject', dyn],
    ['namespaceObject', struct('kubernetes.Namespace')],
    ['request', struct('kubernetes.AdmissionRequest')],
  ];
  if (params) named.push(['params', dyn]);
  if (authorizer) {
    named.push(['authorizer', struct('kubernetes.authorization.Authorizer')]);
    named.push(['authorizer.requestResource', struct('kubernetes.authorization.ResourceCheck')]);
  }
  if (variables) named.push(['variables', struct('kubernetes.variables')]);
  return {
    variables: new Map(named),
    fields: (message) => fieldsOf(message, variables, patches === true),
    ...(patches && { functions: patchFunctions }),
  };
}

const patchFunctions = new Map([['jsonpatch.escapeKey', [overload('(string) string')]]]);

function fieldsOf(
  message: string,
  variables: ReadonlyMap<string, CelType> | undefined,
  patches: boolean,
): Fields | undefined {
  if (variables && message === 'kubernetes.variables') return (name) => variables.get(name);
  if (patches && (message === 'Object' || message.startsWith('Object.'))) return () => dyn;
  if (message === 'JSONPatch' && !patches) return undefined;
  const fields = messages.get(message);
  return fields && ((name) => fields.get(name));
}

/** The type of a variable that holds what an expression of a type evaluates to. */
export function variableType(type: CelType): CelType {
  const { kind, params } = type;
  if (['struct', 'opaque', 'type', 'error', 'param'].includes(kind)) return dyn;
  const [first = dyn, second = dyn] = params.map(variableType);
  if (kind === 'list') return listOf(first);
  return kind === 'map' ? mapOf(first, second) : type;
}
