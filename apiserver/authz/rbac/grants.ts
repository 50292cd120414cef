import type { UserInfo } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { type PolicyRule, rulesOf } from '../../../kube/rbac/rule.ts';
import { record, records, text } from '../../../kube/untyped.ts';

export interface RoleRef {
  kind: string;
  name: string;
}

interface Subject {
  kind: string;
  name: string;
  /** As messages show a ServiceAccount's: where it is, or where the binding is. */
  namespace: string;
  /** Of whom it is; undefined: of nobody. */
  key: string | undefined;
}

/** A RoleBinding or, without namespace, a ClusterRoleBinding. */
export interface Binding {
  namespace: string;
  name: string;
  roleRef: RoleRef;
  subjects: readonly Subject[];
}

/** Under which a user's bindings are kept: their own name, then each group. */
export function keysOf(user: UserInfo): string[] {
  return [`u:${user.name}`, ...user.groups.map((group) => `g:${group}`)];
}

/** Roles and bindings of one logical cluster, found by whom they are for. Cluster-wide ones have the namespace ''. */
export class Grants {
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();
  /** By namespace, then by subject. */
  readonly #byKey = new Map<string, Map<string, Set<Binding>>>();
  /** How many bindings name a subject, but for the subjects that `counts` leaves out. */
  readonly #named = new Map<string, number>();
  readonly #counts: (binding: Binding, key: string) => boolean;

  constructor(counts: (binding: Binding, key: string) => boolean = () => true) {
    this.#counts = counts;
  }

  get isEmpty(): boolean {
    return this.#roles.size === 0 && this.#bindings.size === 0;
  }

  rules(namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(`${namespace}/${name}`);
  }

  putRole(namespace: string, name: string, role: KubeObject | undefined): void {
    if (role === undefined) this.#roles.delete(`${namespace}/${name}`);
    else this.#roles.set(`${namespace}/${name}`, rulesOf(role));
  }

  /** What is known by the namespace and name of a binding. */
  namesake({ namespace, name }: Binding): Binding | undefined {
    return this.#bindings.get(`${namespace}/${name}`);
  }

  putBinding(namespace: string, name: string, object: KubeObject | undefined): void {
    const key = `${namespace}/${name}`;
    const before = this.#bindings.get(key);
    if (before !== undefined) this.#remove(before);
    this.#bindings.delete(key);
    if (object === undefined) return;
    const binding = bindingOf(namespace, name, object);
    this.#bindings.set(key, binding);
    this.#add(binding);
  }

  /** The bindings of a namespace that are for whoever has one of these keys, each once. */
  applying(namespace: string, keys: readonly string[]): readonly Binding[] {
    const place = this.#byKey.get(namespace);
    if (place === undefined) return nothing;
    let found: Set<Binding> | undefined;
    let mixed = false;
    for (const key of keys) {
      const bindings = place.get(key);
      if (bindings === undefined) continue;
      if (found === undefined) found = bindings;
      else {
        if (!mixed) found = new Set(found);
        mixed = true;
        for (const binding of bindings) found.add(binding);
      }
    }
    return found === undefined ? nothing : [...found];
  }

  /** Whether anything is bound to whoever has one of these keys. */
  names(keys: readonly string[]): boolean {
    return keys.some((key) => this.#named.has(key));
  }

  #add(binding: Binding): void {
    const place = this.#byKey.get(binding.namespace) ?? new Map<string, Set<Binding>>();
    this.#byKey.set(binding.namespace, place);
    for (const key of subjectKeys(binding)) {
      const there = place.get(key);
      if (there === undefined) place.set(key, new Set([binding]));
      else there.add(binding);
      if (this.#counts(binding, key)) this.#named.set(key, (this.#named.get(key) ?? 0) + 1);
    }
  }

  #remove(binding: Binding): void {
    const place = this.#byKey.get(binding.namespace);
    for (const key of subjectKeys(binding)) {
      const there = place?.get(key);
      there?.delete(binding);
      if (there?.size === 0) place?.delete(key);
      const left = (this.#named.get(key) ?? 0) - (this.#counts(binding, key) ? 1 : 0);
      if (left > 0) this.#named.set(key, left);
      else this.#named.delete(key);
    }
    if (place?.size === 0) this.#byKey.delete(binding.namespace);
  }
}

const nothing: readonly Binding[] = [];

function subjectKeys({ subjects }: Binding): Set<string> {
  return new Set(subjects.flatMap(({ key }) => (key === undefined ? [] : [key])));
}

function bindingOf(namespace: string, name: string, object: KubeObject): Binding {
  const ref = record(object['roleRef']);
  return {
    namespace,
    name,
    roleRef: { kind: text(ref['kind']), name: text(ref['name']) },
    subjects: records(object['subjects']).map((one) => {
      const subject = { kind: text(one['kind']), name: text(one['name']) };
      const at = text(one['namespace']) || namespace;
      return { ...subject, namespace: at, key: keyOf(subject.kind, subject.name, at) };
    }),
  };
}

function keyOf(kind: string, name: string, namespace: string): string | undefined {
  if (kind === 'User') return `u:${name}`;
  if (kind === 'Group') return `g:${name}`;
  const isAccount = kind === 'ServiceAccount' && namespace !== '';
  return isAccount ? `u:system:serviceaccount:${namespace}:${name}` : undefined;
}
