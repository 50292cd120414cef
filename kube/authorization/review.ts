import { type LabelRequirement, parseFieldSelector, parseLabelSelector } from '../selector.ts';
import { isRecord, record, records, strings, text } from '../untyped.ts';

export interface SelectorRequirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  values?: readonly string[];
}

/** By what a list or watch leaves objects out; as much of it as can be read. */
export interface Selectors {
  field: readonly SelectorRequirement[];
  label: readonly SelectorRequirement[];
}

/** The spec of a SubjectAccessReview of v1; what is empty is left out. */
export interface AccessSpec {
  user: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
  resourceAttributes?: {
    fieldSelector?: { requirements: readonly SelectorRequirement[] };
    labelSelector?: { requirements: readonly SelectorRequirement[] };
  } & Readonly<Record<string, unknown>>;
  nonResourceAttributes?: Readonly<Record<string, string>>;
}

/** The status of one, as a webhook answers. */
export interface AccessStatus {
  allowed: boolean;
  denied: boolean;
  reason: string;
}

const group = 'authorization.k8s.io';

/** To be sent, in that version. */
export function subjectAccessReview(version: 'v1' | 'v1beta1', spec: AccessSpec): object {
  const { groups, ...others } = spec;
  // The older version's name for them.
  const said = version === 'v1beta1' && groups ? { ...others, group: groups } : spec;
  return {
    kind: 'SubjectAccessReview',
    apiVersion: `${group}/${version}`,
    metadata: {},
    spec: said,
    status: { allowed: false },
  };
}

/** Throws Error for what is none. */
export function statusIn(answer: unknown, version: string): AccessStatus {
  const isOne =
    isRecord(answer) &&
    answer['kind'] === 'SubjectAccessReview' &&
    answer['apiVersion'] === `${group}/${version}`;
  if (!isOne) throw new Error(`it answered no SubjectAccessReview of ${group}/${version}`);
  const status = record(answer['status']);
  return {
    allowed: status['allowed'] === true,
    denied: status['denied'] === true,
    reason: text(status['reason']),
  };
}

/** Of a request's query. */
export function selectorsInQuery(query: URLSearchParams): Selectors {
  return selectors(query.get('fieldSelector') ?? '', query.get('labelSelector') ?? '');
}

/** Of the resourceAttributes of a review. */
export function selectorsInReview(attributes: Readonly<Record<string, unknown>>): Selectors {
  const [field, label] = [record(attributes['fieldSelector']), record(attributes['labelSelector'])];
  const raw = selectors(text(field['rawSelector']), text(label['rawSelector']));
  const given = { field: records(field['requirements']), label: records(label['requirements']) };
  return {
    field: given.field.length > 0 ? given.field.flatMap(ofField) : raw.field,
    label: given.label.length > 0 ? given.label.flatMap(requirement) : raw.label,
  };
}

/** What of them cannot be read, and so leaves nothing out, in kube-apiserver's words; undefined: nothing. */
export function unreadInReview(attributes: Readonly<Record<string, unknown>>): string | undefined {
  const known = selectorsInReview(attributes);
  const told = (['field', 'label'] as const).flatMap((which) => {
    const given = record(attributes[`${which}Selector`]);
    const [all, read] = [records(given['requirements']).length, known[which].length];
    if (all > 0 ? read === all : isReadable(which, text(given['rawSelector']))) return [];
    const how = read > 0 ? 'partially ignored' : 'ignored';
    return [`spec.resourceAttributes.${which}Selector ${how} due to parse error`];
  });
  return told.length > 0 ? told.join('; ') : undefined;
}

function isReadable(which: 'field' | 'label', raw: string): boolean {
  try {
    if (which === 'field') parseFieldSelector(raw);
    else parseLabelSelector(raw);
    return true;
  } catch {
    return false;
  }
}

function selectors(field: string, label: string): Selectors {
  return {
    field: read(() =>
      parseFieldSelector(field).map(({ field: key, op, value }) => ({
        key,
        operator: op === '=' ? 'In' : 'NotIn',
        values: [value],
      })),
    ),
    label: read(() => parseLabelSelector(label).requirements.flatMap(ofLabel)),
  };
}

/** What cannot be read leaves nothing out: whoever decides sees the wider question. */
function read(parse: () => SelectorRequirement[]): SelectorRequirement[] {
  try {
    return parse();
  } catch {
    return [];
  }
}

const operators: Partial<Record<LabelRequirement['operator'], SelectorRequirement['operator']>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

function ofLabel({ key, operator: op, values }: LabelRequirement): SelectorRequirement[] {
  const operator = operators[op];
  return operator ? [{ key, operator, ...(values.length > 0 && { values }) }] : [];
}

function requirement(given: Record<string, unknown>): SelectorRequirement[] {
  const operator = (['In', 'NotIn', 'Exists', 'DoesNotExist'] as const).find(
    (op) => op === given['operator'],
  );
  const values = strings(given['values']);
  const fits = operator?.endsWith('In') ? values.length > 0 : values.length === 0;
  return operator && fits
    ? [{ key: text(given['key']), operator, ...(values.length > 0 && { values }) }]
    : [];
}

/** A field has one value. */
function ofField(given: Record<string, unknown>): SelectorRequirement[] {
  return requirement(given).filter(
    ({ operator, values = [] }) => /In$/.test(operator) && values.length === 1,
  );
}
