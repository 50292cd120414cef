import { at, int, isRecord, record, records, text } from '../untyped.ts';
import { conditionStatus, humanDuration, selectorText } from './format.ts';
import type { Printer, Printers, Row } from './printer.ts';

const count = (field: string): Printer['cells'] => {
  return ({ name, object, age }) => [name, records(object[field]).length, age];
};

function subjects(object: unknown, kind: string): string {
  const chosen = records(at(object, 'subjects')).filter((subject) => subject['kind'] === kind);
  return chosen
    .map((subject) => {
      const namespace = text(subject['namespace']);
      return kind === 'ServiceAccount' && namespace
        ? `${namespace}/${text(subject['name'])}`
        : text(subject['name']);
    })
    .join(', ');
}

const binding: Printer = {
  columns: '@Name|Role|Age|Users*|Groups*|ServiceAccounts*',
  cells: ({ name, object, age }) => {
    const role = `${text(at(object, 'roleRef', 'kind'))}/${text(at(object, 'roleRef', 'name'))}`;
    return [name, role, age, ...['User', 'Group', 'ServiceAccount'].map((kind) => subjects(object, kind))];
  },
};

const webhooks: Printer = { columns: '@Name|Webhooks:i|Age', cells: count('webhooks') };

function paramKind({ spec }: Row): string {
  const kind = spec['paramKind'];
  return isRecord(kind) ? `${text(kind['apiVersion'])}/${text(kind['kind'])}` : '<unset>';
}

function admissionPolicy(column: string, field: string): Printer {
  return {
    columns: `@Name|${column}:i|ParamKind|Age`,
    cells: (row) => [row.name, records(row.spec[field]).length, paramKind(row), row.age],
  };
}

const policyBinding: Printer = {
  columns: '@Name|PolicyName|ParamRef|Age',
  cells: ({ name, spec, age }) => {
    const ref = record(spec['paramRef']);
    const named = text(ref['name']) && `${text(ref['namespace']) || '*'}/${text(ref['name'])}`;
    const selected = ref['selector'] === undefined ? '<unset>' : selectorText(ref['selector']);
    return [name, text(spec['policyName']), named || selected, age];
  },
};

function requestStatus({ object, status }: Row): string {
  const has = (type: string) => conditionStatus(object, type) !== undefined;
  const decided = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return decided + (has('Failed') ? ',Failed' : '') + (text(status['certificate']) ? ',Issued' : '');
}

function claimState({ object, status }: Row): string {
  const deleted = at(object, 'metadata', 'deletionTimestamp') !== undefined;
  if (!isRecord(status['allocation'])) return deleted ? 'deleted' : 'pending';
  const reserved = records(status['reservedFor']).length > 0;
  return [deleted ? 'deleted' : '', 'allocated', reserved ? 'reserved' : ''].filter(Boolean).join(',');
}

function levelCells({ name, spec, age }: Row): unknown[] {
  const limited = spec['limited'];
  const queuing = at(limited, 'limitResponse', 'queuing');
  const queue = (field: string) => (isRecord(queuing) ? int(queuing[field]) : '<none>');
  const shares = isRecord(limited) ? int(limited['nominalConcurrencyShares']) : '<none>';
  return [
    name,
    text(spec['type']),
    shares,
    queue('queues'),
    queue('handSize'),
    queue('queueLengthLimit'),
    age,
  ];
}

function serviceCells(row: Row): unknown[] {
  const service = row.spec['service'];
  const where = isRecord(service) ? `${text(service['namespace'])}/${text(service['name'])}` : 'Local';
  const found = records(row.status['conditions']).find((condition) => condition['type'] === 'Available');
  const status = found ? text(found['status']) : 'Unknown';
  return [
    row.name,
    where,
    found && status !== 'True' ? `${status} (${text(found['reason'])})` : status,
    row.age,
  ];
}

export const policyPrinters: Printers = {
  '/ConfigMap': {
    columns: '@Name|Data|Age',
    cells: ({ name, object, age }) => {
      const size = (field: string) => Object.keys(record(object[field])).length;
      return [name, size('data') + size('binaryData'), age];
    },
  },
  '/Secret': {
    columns: '@Name|Type|Data|Age',
    cells: ({ name, object, age }) => [
      name,
      text(object['type']),
      Object.keys(record(object['data'])).length,
      age,
    ],
  },
  '/ServiceAccount': { columns: '@Name|Age', cells: ({ name, age }) => [name, age] },
  'rbac.authorization.k8s.io/RoleBinding': binding,
  'rbac.authorization.k8s.io/ClusterRoleBinding': binding,
  'coordination.k8s.io/Lease': {
    columns: '@Name|Holder|Age',
    cells: ({ name, spec, age }) => [name, text(spec['holderIdentity']), age],
  },
  'certificates.k8s.io/CertificateSigningRequest': {
    columns: '@Name|Age|SignerName|Requestor|RequestedDuration|Condition',
    cells: (row) => {
      const seconds = row.spec['expirationSeconds'];
      const duration = seconds === undefined ? '<none>' : humanDuration(int(seconds) * 1000);
      const signer = text(row.spec['signerName']) || '<none>';
      return [row.name, row.age, signer, text(row.spec['username']), duration, requestStatus(row)];
    },
  },
  'scheduling.k8s.io/PriorityClass': {
    columns: '@Name|Value:i|Global-Default:b|Age|PreemptionPolicy',
    cells: ({ name, object, age }) => {
      const preemption = text(object['preemptionPolicy']);
      return [name, int(object['value']), object['globalDefault'] ?? false, age, preemption];
    },
  },
  'node.k8s.io/RuntimeClass': {
    columns: '@Name|Handler|Age',
    cells: ({ name, object, age }) => [name, text(object['handler']), age],
  },
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': admissionPolicy('Validations', 'validations'),
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': admissionPolicy('Mutations', 'mutations'),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': policyBinding,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': policyBinding,
  'apiregistration.k8s.io/APIService': { columns: '@Name|Service|Available|Age', cells: serviceCells },
  'flowcontrol.apiserver.k8s.io/FlowSchema': {
    columns: '@Name|PriorityLevel|MatchingPrecedence|DistinguisherMethod|Age|MissingPL',
    cells: ({ name, object, spec, age }) => [
      name,
      text(at(spec, 'priorityLevelConfiguration', 'name')),
      int(spec['matchingPrecedence']),
      at(spec, 'distinguisherMethod', 'type') ?? '<none>',
      age,
      conditionStatus(object, 'Dangling') ?? '?',
    ],
    // As requests are matched.
    order: (a, b) =>
      int(at(a, 'spec', 'matchingPrecedence')) - int(at(b, 'spec', 'matchingPrecedence')) ||
      (text(at(a, 'metadata', 'name')) < text(at(b, 'metadata', 'name')) ? -1 : 1),
  },
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': {
    columns: '@Name|Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age',
    cells: levelCells,
  },
  'resource.k8s.io/DeviceClass': { columns: '@Name|Age', cells: ({ name, age }) => [name, age] },
  'resource.k8s.io/ResourceClaimTemplate': { columns: '@Name|Age', cells: ({ name, age }) => [name, age] },
  'resource.k8s.io/ResourceClaim': {
    columns: '@Name|State|Age',
    cells: (row) => [row.name, claimState(row), row.age],
  },
  'resource.k8s.io/ResourceSlice': {
    columns: '@Name|Node|Driver|Pool|Age',
    cells: ({ name, spec, age }) => [
      name,
      text(spec['nodeName']),
      text(spec['driver']),
      text(at(spec, 'pool', 'name')),
      age,
    ],
  },
};
