import { int, isRecord, records, text } from '../../defaults/json.ts';
import type { JsonObject } from '../../object.ts';
import type { Field } from '../field.ts';
import { dns1123Label, oneOf, portNameMessages, portNumber } from '../rules.ts';
import { environment, environmentFrom } from './env.ts';
import { volumeDevices, volumeMounts } from './mounts.ts';
import { probes } from './probe.ts';
import { resources } from './resources.ts';
import { securityContext } from './security.ts';

/** What a container may refer to in its pod. */
export interface PodScope {
  volumes: ReadonlyMap<string, JsonObject>;
  claims: readonly string[];
  graceSeconds: number;
  hostUsers: boolean;
  restartPolicy: string;
  /** Empty when the pod does not say. */
  os: string;
}

const protocols = ['SCTP', 'TCP', 'UDP'];

function ports(value: unknown, field: Field): void {
  const names = new Set<string>();
  for (const [index, port] of records(value).entries()) {
    const path = field.index(index);
    const name = text(port['name']);
    if (name) {
      const messages = portNameMessages(name);
      path.child('name').invalidAll(name, messages);
      if (messages.length === 0 && names.has(name)) path.child('name').duplicate(name);
      if (messages.length === 0) names.add(name);
    }
    if (int(port['containerPort']) === 0) path.child('containerPort').required();
    else portNumber(port['containerPort'], path.child('containerPort'));
    if (int(port['hostPort']) !== 0) portNumber(port['hostPort'], path.child('hostPort'));
    oneOf(port['protocol'], protocols, path.child('protocol'));
  }
}

const resizable = ['cpu', 'memory'];
const resizePolicies = ['NotRequired', 'RestartContainer'];

function resizePolicy(container: JsonObject, scope: PodScope, field: Field): void {
  const seen = new Set<string>();
  for (const [index, policy] of records(container['resizePolicy']).entries()) {
    const path = field.index(index);
    const name = text(policy['resourceName']);
    if (seen.has(name)) path.duplicate(name);
    seen.add(name);
    oneOf(name, resizable, field);
    const restart = text(policy['restartPolicy']);
    oneOf(restart, resizePolicies, field);
    if (scope.restartPolicy === 'Never' && restart !== 'NotRequired')
      field.invalid(restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  }
}

/** What holds for every container of a pod, whatever its role. */
function common(container: JsonObject, scope: PodScope, field: Field): void {
  const name = text(container['name']);
  if (!name) field.child('name').required();
  else dns1123Label(name, field.child('name'));
  if (!text(container['image'])) field.child('image').required();
  const policies = ['File', 'FallbackToLogsOnError'];
  oneOf(container['terminationMessagePolicy'], policies, field.child('terminationMessagePolicy'));
  ports(container['ports'], field.child('ports'));
  environment(container['env'], field.child('env'));
  environmentFrom(container['envFrom'], field.child('envFrom'));
  volumeMounts(container, scope.volumes, field.child('volumeMounts'));
  volumeDevices(container, scope.volumes, field.child('volumeDevices'));
  oneOf(container['imagePullPolicy'], ['Always', 'IfNotPresent', 'Never'], field.child('imagePullPolicy'));
  resources(container['resources'], scope.claims, field.child('resources'));
  resizePolicy(container, scope, field.child('resizePolicy'));
  securityContext(container['securityContext'], scope.hostUsers, field.child('securityContext'));
}

/** One host port serves one container. */
function hostPorts(containers: JsonObject[], field: Field): void {
  const seen = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [i, port] of records(container['ports']).entries()) {
      if (int(port['hostPort']) === 0) continue;
      const key = `${text(port['protocol'])}/${text(port['hostIP'])}/${int(port['hostPort'])}`;
      if (seen.has(key)) field.index(index).child('ports').index(i).child('hostPort').duplicate(key);
      seen.add(key);
    }
  }
}

const restartPolicies = ['Always', 'Never', 'OnFailure'];

const ruleActions = ['Restart'];
const ruleOperators = ['In', 'NotIn'];
const mostRules = 20;

/** When a container by itself starts again. */
function restartRules(container: JsonObject, field: Field): void {
  const policy = container['restartPolicy'];
  const rules = records(container['restartPolicyRules']);
  const path = field.child('restartPolicy');
  if (policy === undefined) {
    if (rules.length === 0) return;
    path.required('must specify restartPolicy when restart rules are used');
  } else if (!restartPolicies.includes(text(policy))) path.notSupported(policy, restartPolicies);
  if (rules.length > mostRules) field.child('restartPolicyRules').tooMany(rules.length, mostRules);
  for (const [index, rule] of rules.entries()) {
    const path = field.child('restartPolicyRules').index(index);
    const action = text(rule['action']);
    if (!ruleActions.includes(action)) path.child('action').notSupported(action, ruleActions);
    const codes = rule['exitCodes'];
    if (!isRecord(codes)) {
      path.child('exitCodes').required('must be specified');
      continue;
    }
    const operator = text(codes['operator']);
    if (!ruleOperators.includes(operator))
      path.child('exitCodes', 'operator').notSupported(operator, ruleOperators);
    const values = Array.isArray(codes['values']) ? codes['values'] : [];
    if (values.length > 255) path.child('exitCodes', 'values').tooMany(values.length, 255);
  }
}

export function containers(value: unknown, scope: PodScope, field: Field): void {
  const list = records(value);
  if (list.length === 0) {
    field.required();
    return;
  }
  const names = new Set<string>();
  for (const [index, container] of list.entries()) {
    const path = field.index(index);
    const name = text(container['name']);
    common(container, scope, path);
    if (names.has(name)) path.child('name').duplicate(name);
    names.add(name);
    probes(container, scope.graceSeconds, path);
    restartRules(container, path);
  }
  hostPorts(list, field);
}

export function initContainers(value: unknown, regular: unknown, scope: PodScope, field: Field): void {
  const names = new Set(records(regular).map((container) => text(container['name'])));
  for (const [index, container] of records(value).entries()) {
    const path = field.index(index);
    const name = text(container['name']);
    common(container, scope, path);
    const restart = container['restartPolicy'];
    if (restart !== 'Always') restartRules(container, path);
    else if (records(container['restartPolicyRules']).length > 0) {
      const rule = 'restartPolicyRules are not allowed for init containers with restart policy Always';
      path.child('restartPolicyRules').forbidden(rule);
    }
    if (names.has(name)) path.child('name').duplicate(name);
    else if (name) names.add(name);
    hostPorts([container], field);
    const resizes = records(container['resizePolicy']);
    if (restart === 'Always') {
      probes(container, scope.graceSeconds, path);
      continue;
    }
    for (const forbidden of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
      if (container[forbidden] === undefined) continue;
      path.child(forbidden).forbidden('may not be set for init containers without restartPolicy=Always');
    }
    for (const [i, { restartPolicy }] of resizes.entries()) {
      if (restartPolicy !== 'RestartContainer') continue;
      const rule = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      path.child('resizePolicy').index(i).child('restartPolicy').invalid(restartPolicy, rule);
    }
  }
}
