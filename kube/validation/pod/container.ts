import type { JsonObject } from '../../object.ts';
import { int, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { dns1123Label, oneOf, portNameMessages, portNumber } from '../rules.ts';
import { environment, environmentFrom } from './env.ts';
import { volumeDevices, volumeMounts } from './mounts.ts';
import { probes } from './probe.ts';
import { resources } from './resources.ts';
import { resizePolicy, restartRules } from './restart.ts';
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

/** What holds for every container of a pod, whatever its role. */
export function common(container: JsonObject, scope: PodScope, field: Field): void {
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
  resizePolicy(container, scope.restartPolicy, field.child('resizePolicy'));
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
    restartRules(container, false, path);
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
    restartRules(container, restart === undefined, path);
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
