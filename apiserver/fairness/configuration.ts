import { bootstrapFlows, catchAll, exempt, type FlowResource } from '../../kube/flow/bootstrap.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { at, int, isRecord, record, records, strings, text } from '../../kube/untyped.ts';

/** What the objects say, read once: see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/ */
export interface Configuration {
  /** In the order in which they are tried; the last one matches everything. */
  readonly flows: readonly Flow[];
  readonly levels: readonly LevelSpec[];
}

/** A FlowSchema whose priority level is there. */
export interface Flow {
  readonly name: string;
  readonly uid: string;
  readonly level: string;
  /** What tells its flows apart, beside the logical cluster. */
  readonly by: 'ByUser' | 'ByNamespace' | '';
  readonly precedence: number;
  readonly rules: readonly Rule[];
}

export interface Rule {
  readonly subjects: readonly Subject[];
  readonly resources: readonly ResourceRule[];
  readonly others: readonly { readonly verbs: readonly string[]; readonly urls: readonly string[] }[];
}

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly namespaces: readonly string[];
  readonly clusterScope: boolean;
}

export interface LevelSpec {
  readonly name: string;
  readonly uid: string;
  readonly exempt: boolean;
  readonly shares: number;
  readonly lendablePercent: number;
  /** Undefined: whatever others lend. */
  readonly borrowingPercent: number | undefined;
  /** Undefined: what finds no seat is refused at once. */
  readonly queuing: Queuing | undefined;
}

export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** FlowSchemas without their level do not count; what must be there is there, whether or not it is an object. */
export function configurationOf(
  schemas: readonly KubeObject[],
  levels: readonly KubeObject[],
): Configuration {
  const specs = withMandatory('prioritylevelconfigurations', levels).map(levelOf);
  const names = new Set(specs.map(({ name }) => name));
  const flows = withMandatory('flowschemas', schemas)
    .map(flowOf)
    .filter(({ level }) => names.has(level))
    .sort((a, b) => place(a) - place(b) || (a.name < b.name ? -1 : 1));
  return { flows, levels: specs };
}

/** What everybody falls to is last, and whom nobody holds up is first, whoever has the same precedence. */
function place({ name, precedence }: Flow): number {
  if (name === exempt) return 0;
  return name === catchAll ? Infinity : precedence;
}

/** What the mandatory ones say is fixed, but for what may be lent: https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#mandatory-configuration-objects */
function withMandatory(resource: FlowResource, objects: readonly KubeObject[]): readonly KubeObject[] {
  const missing = bootstrapFlows(resource).filter(({ metadata: { name } }) => {
    const mandatory = name === exempt || name === catchAll;
    return mandatory && !objects.some((object) => object.metadata.name === name);
  });
  return missing.length === 0 ? objects : [...objects, ...missing];
}

function flowOf({ metadata, spec }: KubeObject): Flow {
  const said = record(spec);
  const by = text(at(said, 'distinguisherMethod', 'type'));
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    level: text(at(said, 'priorityLevelConfiguration', 'name')),
    by: by === 'ByUser' || by === 'ByNamespace' ? by : '',
    precedence: int(said['matchingPrecedence']),
    rules: records(said['rules']).map(ruleOf),
  };
}

function ruleOf(rule: JsonObject): Rule {
  return {
    subjects: records(rule['subjects']).map(subjectOf),
    resources: records(rule['resourceRules']).map((one) => ({
      verbs: strings(one['verbs']),
      groups: strings(one['apiGroups']),
      resources: strings(one['resources']),
      namespaces: strings(one['namespaces']),
      clusterScope: one['clusterScope'] === true,
    })),
    others: records(rule['nonResourceRules']).map((one) => ({
      verbs: strings(one['verbs']),
      urls: strings(one['nonResourceURLs']),
    })),
  };
}

function subjectOf(subject: JsonObject): Subject {
  const kind = text(subject['kind']);
  const field = kind === 'ServiceAccount' ? 'serviceAccount' : kind.toLowerCase();
  const { name, namespace } = record(subject[field]);
  return { kind, name: text(name), namespace: text(namespace) };
}

function levelOf({ metadata, spec }: KubeObject): LevelSpec {
  const said = record(spec);
  const isExempt = said['type'] === 'Exempt';
  const own = record(said[isExempt ? 'exempt' : 'limited']);
  const borrowing = own['borrowingLimitPercent'];
  const queuing = at(own, 'limitResponse', 'queuing');
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    exempt: isExempt,
    shares: int(own['nominalConcurrencyShares']),
    lendablePercent: int(own['lendablePercent']),
    borrowingPercent: typeof borrowing === 'number' ? borrowing : undefined,
    queuing: isRecord(queuing)
      ? {
          queues: int(queuing['queues']),
          handSize: int(queuing['handSize']),
          queueLengthLimit: int(queuing['queueLengthLimit']),
        }
      : undefined,
  };
}
