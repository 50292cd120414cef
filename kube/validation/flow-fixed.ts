import { sameJson } from '../deep.ts';
import { bootstrapFlows, catchAll, exempt, type FlowResource } from '../flow/bootstrap.ts';
import type { JsonObject } from '../object.ts';
import { int, isRecord, record, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';

/** Of the mandatory ones nothing may be changed, but for what `exempt` lends: then they would not hold. */
export function fixedSpec(resource: FlowResource, name: unknown, spec: JsonObject, field: Field): void {
  if (name !== exempt && name !== catchAll) return;
  const mandatory = bootstrapFlows(resource).find(({ metadata }) => metadata.name === name);
  const shape = resource === 'flowschemas' ? schemaOf : levelOf;
  const [have, want] = [shape(spec), shape(record(mandatory?.spec))];
  const lends = resource === 'prioritylevelconfigurations' && name === exempt;
  if (lends) {
    if (sameJson({ ...have, Exempt: null }, { ...want, Exempt: null })) return;
    field.invalid(have, `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`);
  } else if (!sameJson(have, want)) field.invalid(have, `spec of '${name}' must equal the fixed value`);
}

/* As kube-apiserver's messages show them: its own structures, with all their fields. */

type Shape = Record<string, unknown>;

function schemaOf(spec: JsonObject): Shape {
  const method = spec['distinguisherMethod'];
  const rules = records(spec['rules']);
  return {
    PriorityLevelConfiguration: { Name: text(record(spec['priorityLevelConfiguration'])['name']) },
    MatchingPrecedence: int(spec['matchingPrecedence']),
    DistinguisherMethod: isRecord(method) ? { Type: text(method['type']) } : null,
    Rules: orNull(rules.map(ruleOf)),
  };
}

function ruleOf(rule: JsonObject): Shape {
  return {
    Subjects: orNull(records(rule['subjects']).map(subjectOf)),
    ResourceRules: orNull(
      records(rule['resourceRules']).map((one) => ({
        Verbs: orNull(strings(one['verbs'])),
        APIGroups: orNull(strings(one['apiGroups'])),
        Resources: orNull(strings(one['resources'])),
        ClusterScope: one['clusterScope'] === true,
        Namespaces: orNull(strings(one['namespaces'])),
      })),
    ),
    NonResourceRules: orNull(
      records(rule['nonResourceRules']).map((one) => ({
        Verbs: orNull(strings(one['verbs'])),
        NonResourceURLs: orNull(strings(one['nonResourceURLs'])),
      })),
    ),
  };
}

function subjectOf({ kind, user, group, serviceAccount }: JsonObject): Shape {
  const named = (one: unknown) => (isRecord(one) ? { Name: text(one['name']) } : null);
  const account = isRecord(serviceAccount) && {
    Namespace: text(serviceAccount['namespace']),
    Name: text(serviceAccount['name']),
  };
  return { Kind: text(kind), User: named(user), Group: named(group), ServiceAccount: account || null };
}

function levelOf({ type, limited, exempt: own }: JsonObject): Shape {
  return {
    Type: text(type),
    Limited: isRecord(limited) ? limitedOf(limited) : null,
    Exempt: isRecord(own)
      ? {
          NominalConcurrencyShares: own['nominalConcurrencyShares'] ?? null,
          LendablePercent: own['lendablePercent'] ?? null,
        }
      : null,
  };
}

function limitedOf(limited: JsonObject): Shape {
  const response = record(limited['limitResponse']);
  const queuing = response['queuing'];
  return {
    NominalConcurrencyShares: int(limited['nominalConcurrencyShares']),
    LimitResponse: {
      Type: text(response['type']),
      Queuing: isRecord(queuing)
        ? {
            Queues: int(queuing['queues']),
            HandSize: int(queuing['handSize']),
            QueueLengthLimit: int(queuing['queueLengthLimit']),
          }
        : null,
    },
    LendablePercent: limited['lendablePercent'] ?? null,
    BorrowingLimitPercent: limited['borrowingLimitPercent'] ?? null,
  };
}

function orNull<T>(list: T[]): T[] | null {
  return list.length === 0 ? null : list;
}
