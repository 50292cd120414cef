import { isRecord } from '../../../kube/untyped.ts';

/**
 * What autoscaling/v1 keeps of an autoscaler in annotations: metrics in forms of its own, conditions, and the behavior as Go's
 * internal type is written. Names are read in any case.
 */
export type Fields = Record<string, unknown>;

export function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** Of what there is. */
export function present(all: Fields): Fields {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null));
}

const sources = ['object', 'pods', 'resource', 'containerResource', 'external'] as const;
type Source = (typeof sources)[number];
/** What is wanted of a metric, and what it is. */
type Side = 'target' | 'current';

/** `TargetValue` of a spec is `CurrentValue` of a status; what stands here first is in each form, zero where it is not said. */
const v1Names = {
  target: { value: 'targetValue', average: 'targetAverageValue', utilization: 'targetAverageUtilization' },
  current: {
    value: 'currentValue',
    average: 'currentAverageValue',
    utilization: 'currentAverageUtilization',
  },
} as const;

export function metricToV1(metric: unknown, side: Side): Fields {
  const whole = fields(metric);
  const shown = sources.filter((source) => isRecord(whole[source]));
  const parts = shown.map((source) => [source, sourceToV1(source, fields(whole[source]), side)] as const);
  return { type: whole['type'], ...Object.fromEntries(parts) };
}

function sourceToV1(source: Source, from: Fields, side: Side): Fields {
  const { value, averageValue, averageUtilization } = fields(from[side]);
  const { name: metricName, selector } = fields(from['metric']);
  const names = v1Names[side];
  const isStatus = side === 'current';
  switch (source) {
    case 'object':
      return {
        target: from['describedObject'],
        metricName,
        [names.value]: value ?? '0',
        ...present({ selector, averageValue }),
      };
    case 'pods':
      return { metricName, [names.average]: averageValue ?? '0', ...present({ selector }) };
    case 'external': {
      const metricSelector = selector;
      const first = isStatus ? (value ?? '0') : value;
      return {
        metricName,
        ...present({ metricSelector, [names.value]: first, [names.average]: averageValue }),
      };
    }
    default: {
      const { name, container } = from;
      const average = isStatus ? (averageValue ?? '0') : averageValue;
      const amounts = present({ [names.utilization]: averageUtilization, [names.average]: average });
      return { name, ...amounts, ...present({ container }) };
    }
  }
}

/** What is of another form than it has to be stays as it is, for whoever reads it by its type. */
export function metricFromV1(metric: unknown, side: Side): unknown {
  return ofRecord(metric, (said) => {
    const whole = named(said, ['type', ...sources]);
    const parts = sources.map((source) => [
      source,
      isSaid(whole[source]) ? ofRecord(whole[source], (from) => sourceFromV1(source, from, side)) : undefined,
    ]);
    return present({ type: whole['type'], ...Object.fromEntries(parts) });
  });
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Null is an object that says nothing. */
function ofRecord(value: unknown, read: (from: Fields) => unknown): unknown {
  return isRecord(value) || !isSaid(value) ? read(present(fields(value))) : value;
}

const commonNames = [
  'name',
  'container',
  'metricName',
  'metricSelector',
  'selector',
  'averageValue',
  'target',
];

function sourceFromV1(source: Source, said: Fields, side: Side): Fields {
  const names = v1Names[side];
  const from = named(said, [...commonNames, ...Object.values(names)]);
  const selector = selectorFromV1(from[source === 'external' ? 'metricSelector' : 'selector']);
  const metric = { name: from['metricName'] ?? '', ...present({ selector }) };
  const averageValue = from[source === 'object' ? 'averageValue' : names.average];
  const value = from[names.value];
  const amount = (type: string, amounts: Fields) => ({
    [side]: { ...(side === 'target' && { type }), ...present(amounts) },
  });
  switch (source) {
    case 'object': {
      const isAverage = averageValue !== undefined;
      // Its form has a value even where only the average counts.
      const counts = isAverage && isZero(value) ? undefined : (value ?? '0');
      return present({
        describedObject: inAnyCase(from['target'], ['kind', 'name', 'apiVersion']),
        metric,
        ...amount(isAverage ? 'AverageValue' : 'Value', { value: counts, averageValue }),
      });
    }
    case 'pods':
      return { metric, ...amount('AverageValue', { averageValue: averageValue ?? '0' }) };
    case 'external':
      return { metric, ...amount(value === undefined ? 'AverageValue' : 'Value', { value, averageValue }) };
    default: {
      const averageUtilization = from[names.utilization];
      const type = averageUtilization === undefined ? 'AverageValue' : 'Utilization';
      const { name, container } = from;
      return present({ name, container, ...amount(type, { averageUtilization, averageValue }) });
    }
  }
}

function selectorFromV1(said: unknown): unknown {
  return ofRecordOnly(said, (whole) => {
    const selector = named(whole, ['matchLabels', 'matchExpressions']);
    const { matchExpressions } = selector;
    if (!Array.isArray(matchExpressions)) return selector;
    const read = matchExpressions.map((one) => inAnyCase(one, ['key', 'operator', 'values']));
    return { ...selector, matchExpressions: read };
  });
}

function inAnyCase(value: unknown, names: readonly string[]): unknown {
  return ofRecordOnly(value, (said) => named(said, names));
}

function ofRecordOnly(value: unknown, read: (from: Fields) => unknown): unknown {
  return isRecord(value) ? read(value) : value;
}

function isZero(value: unknown): boolean {
  return value === undefined || Number(value) === 0;
}

const policyNames = ['Type', 'Value', 'PeriodSeconds'] as const;

export function behaviorToV1(behavior: Fields): Fields {
  const policy = (one: unknown) =>
    Object.fromEntries(policyNames.map((name) => [name, fields(one)[lower(name)]]));
  const rules = (value: unknown): Fields | null => {
    if (!isRecord(value)) return null;
    const { stabilizationWindowSeconds, selectPolicy, policies, tolerance } = value as Fields;
    return {
      StabilizationWindowSeconds: stabilizationWindowSeconds ?? null,
      SelectPolicy: selectPolicy ?? null,
      Policies: Array.isArray(policies) ? policies.map(policy) : null,
      Tolerance: tolerance ?? null,
    };
  };
  return { ScaleUp: rules(behavior['scaleUp']), ScaleDown: rules(behavior['scaleDown']) };
}

/** Undefined where it says nothing; else as metricFromV1. */
export function behaviorFromV1(written: unknown): Fields | undefined {
  const rules = (value: unknown): unknown =>
    isSaid(value) ? ofRecord(value, (from) => rulesFromV1(named(from, ruleNames))) : undefined;
  const { scaleUp, scaleDown } = named(fields(written), ['ScaleUp', 'ScaleDown']);
  const behavior = present({ scaleUp: rules(scaleUp), scaleDown: rules(scaleDown) });
  return Object.keys(behavior).length > 0 ? behavior : undefined;
}

const ruleNames = ['StabilizationWindowSeconds', 'SelectPolicy', 'Policies', 'Tolerance'] as const;

function rulesFromV1(said: Fields): Fields {
  // Nobody fills in what is read from an annotation: without policies it is refused.
  const { policies = [] } = said;
  if (!Array.isArray(policies)) return said;
  return { ...said, policies: policies.map((one) => ofRecord(one, (from) => named(from, policyNames))) };
}

/** Those of the names that are there, in any case, as the API has them. */
function named(value: Fields, names: readonly string[]): Fields {
  const all = new Map(Object.entries(value).map(([name, one]) => [name.toLowerCase(), one]));
  return present(Object.fromEntries(names.map((name) => [lower(name), all.get(name.toLowerCase())])));
}

function lower(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
