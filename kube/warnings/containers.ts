import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { at, int, isRecord, record, records, text } from '../untyped.ts';
import { type Port, TakenPorts } from './ports.ts';
import { fractionalBytes } from './quantity.ts';

const lists = ['initContainers', 'containers', 'ephemeralContainers'];

/** Every container of a pod with where it is. */
export function containersOf(spec: JsonObject, path: string): [JsonObject, string][] {
  return lists.flatMap((list) =>
    records(spec[list]).map((container, i): [JsonObject, string] => [container, `${path}.${list}[${i}]`]),
  );
}

/** A later variable of the same name that does not build on the earlier one. */
function hiddenVariables(container: JsonObject, path: string): string[] {
  const seen = new Set<string>();
  return records(container['env']).flatMap((variable, index) => {
    const name = text(variable['name']);
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const reference = `$(${name})`;
    const value = text(variable['value']);
    const hides = isRecord(variable['valueFrom']) || value === reference || !value.includes(reference);
    const what = `hides previous definition of ${quoteGo(name)}, which may be dropped when using apply`;
    return hides ? [`${path}.env[${index}]: ${what}`] : [];
  });
}

const bytes = ['memory', 'ephemeral-storage'];

export function containerWarnings(container: JsonObject, path: string): string[] {
  const resources = record(container['resources']);
  const list = (kind: string, name: string) =>
    fractionalBytes(resources[kind], [name], `${path}.resources.${kind}`);
  return [
    ...bytes.flatMap((name) => [...list('limits', name), ...list('requests', name)]),
    ...hiddenVariables(container, path),
  ];
}

/** Ports of all containers that are in each other's way. */
export function portWarnings(spec: JsonObject, path: string): string[] {
  const out: string[] = [];
  const taken = new TakenPorts();
  const names = new Map<string, string>();
  const named: string[] = [];
  for (const [container, where] of containersOf(spec, path)) {
    for (const [index, port] of records(container['ports']).entries()) {
      const here = `${where}.ports[${index}]`;
      const own: Port = { where: here, hostIP: text(port['hostIP']), hostPort: int(port['hostPort']) };
      const protocol = text(port['protocol']);
      const number = int(port['containerPort']);
      if (own.hostIP && own.hostPort === 0) {
        const shown = `{Name:${text(port['name'])} HostPort:0 ContainerPort:${number} Protocol:${protocol} HostIP:${own.hostIP}}`;
        out.push(`${here}: hostIP set without hostPort: ${shown}`);
      }
      out.push(...taken.take(`${number}/${protocol}`, own).map((what) => `${here}: ${what}`));
      const name = text(port['name']);
      const first = names.get(name);
      if (name && first === undefined) names.set(name, here);
      else if (name) {
        const use = `services and probes that select ports by name will use ${first}`;
        named.push(`${here}: duplicate port name ${quoteGo(name)} with ${first}, ${use}`);
      }
    }
  }
  return [...out, ...named];
}

/** Profiles that only annotations name. */
export function profileWarnings(spec: JsonObject, meta: unknown, path: string): string[] {
  const annotations = record(at(meta, 'annotations'));
  const key = (name: string) => `${path === '' ? '' : `${path}.`}metadata.annotations[${name}]`;
  const out: string[] = [];
  const seccomp = 'seccomp.security.alpha.kubernetes.io';
  const useSeccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead';
  const tell = (name: string, field: unknown) => {
    if (Object.hasOwn(annotations, name) && !isRecord(field)) out.push(`${key(name)}: ${useSeccomp}`);
  };
  if (Object.keys(annotations).length === 0) return out;
  tell(`${seccomp}/pod`, at(spec, 'securityContext', 'seccompProfile'));
  for (const [container] of containersOf(spec, path)) {
    const name = text(container['name']);
    tell(`container.${seccomp}/${name}`, at(container, 'securityContext', 'seccompProfile'));
    const appArmor = `container.apparmor.security.beta.kubernetes.io/${name}`;
    const own = isRecord(at(container, 'securityContext', 'appArmorProfile'));
    if (path === '' || own || !Object.hasOwn(annotations, appArmor)) continue;
    if (sameProfile(text(annotations[appArmor]), at(spec, 'securityContext', 'appArmorProfile'))) continue;
    out.push(`${key(appArmor)}: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
  return out;
}

function sameProfile(annotation: string, profile: unknown): boolean {
  const type = at(profile, 'type');
  if (annotation === 'unconfined') return type === 'Unconfined';
  if (annotation === 'runtime/default') return type === 'RuntimeDefault';
  return type === 'Localhost' && annotation === `localhost/${text(at(profile, 'localhostProfile'))}`;
}
