import type { UserInfo } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { quoteGo } from '../../../kube/quote.ts';
import { bootstrapObjects, type RbacResource, rbacResources } from '../../../kube/rbac/bootstrap.ts';
import { type Action, type PolicyRule, ruleAllows } from '../../../kube/rbac/rule.ts';
import { reasonOf } from './describe.ts';
import { type Binding, Grants, keysOf, type RoleRef } from './grants.ts';

export interface Asked extends Action {
  user: UserInfo;
  /** An id, never `*`. */
  cluster: string;
  namespace: string;
}

export interface Verdict {
  allowed: boolean;
  reason?: string;
}

/** One object of a kind of RBAC, or the note that a logical cluster has the defaults of that kind as objects. */
export interface RbacKey {
  resource: RbacResource;
  cluster: string;
  namespace: string;
  name: string;
}

/** What a user's bindings give at one place; and which roles are not there. */
interface Given {
  allowing: readonly Allowing[];
  missing: readonly string[];
}

interface Allowing {
  rules: readonly PolicyRule[];
  binding: Binding;
  /** What is said of whoever they allow. Most allow nothing of what is asked: it is put into words when one does. */
  verdict?: Verdict;
}

interface Remembered {
  generation: number;
  /** By logical cluster and namespace. */
  at: Map<string, Given>;
}

/** Of one user; whoever asks for more places is looked up anew. */
const mostPlaces = 64;

class LogicalCluster {
  readonly grants = new Grants((binding, key) => !isByDefault(binding, key));
  /** Of which kinds its own objects are all there is: until then, the defaults count beside them. */
  readonly written = new Set<RbacResource>();
}

/**
 * Who may do what, in every logical cluster, found by whom a binding is for: the authorizer asks here for every request, and
 * waits for nobody. What a logical cluster was never asked for, the default roles and bindings, is here once for
 * all: docs/decisions/0027. Deny by default: a binding whose role is not known grants nothing.
 */
export class RoleIndex {
  readonly #clusters = new Map<string, LogicalCluster>();
  /** For as long as authentication knows them; of no use once anything here is another. */
  readonly #remembered = new WeakMap<UserInfo, Remembered>();
  #generation = 0;

  put({ resource, cluster, namespace, name }: RbacKey, object: KubeObject | undefined): void {
    this.#generation++;
    const known = this.#clusters.get(cluster);
    if (known === undefined && object === undefined) return;
    const { grants, written } = known ?? this.#begin(cluster);
    if (resource === 'roles' || resource === 'clusterroles') grants.putRole(namespace, name, object);
    else grants.putBinding(namespace, name, object);
    if (grants.isEmpty && written.size === 0) this.#clusters.delete(cluster);
  }

  /** From now on the logical cluster's own objects of that kind are all that counts there, or no longer. */
  note(cluster: string, resource: RbacResource, written: boolean): void {
    this.#generation++;
    if (written) (this.#clusters.get(cluster) ?? this.#begin(cluster)).written.add(resource);
    const known = this.#clusters.get(cluster);
    if (written || known === undefined) return;
    known.written.delete(resource);
    if (known.grants.isEmpty && known.written.size === 0) this.#clusters.delete(cluster);
  }

  isWritten(cluster: string, resource: RbacResource): boolean {
    return this.#clusters.get(cluster)?.written.has(resource) ?? false;
  }

  /** Whether anybody gave this user, or a group of theirs, anything there; what everybody has by default is nothing. */
  names(cluster: string, user: UserInfo): boolean {
    return this.#clusters.get(cluster)?.grants.names(keysOf(user)) ?? false;
  }

  decide(asked: Asked): Verdict {
    const { allowing, missing } = this.#given(asked);
    for (const one of allowing) {
      for (const rule of one.rules) {
        if (!ruleAllows(rule, asked)) continue;
        one.verdict ??= allowedBy(one.binding, asked.user);
        return one.verdict;
      }
    }
    return missing.length > 0
      ? { allowed: false, reason: `RBAC: ${aggregate(missing)}` }
      : { allowed: false };
  }

  #given({ user, cluster, namespace }: Asked): Given {
    let known = this.#remembered.get(user);
    if (known?.generation !== this.#generation) {
      known = { generation: this.#generation, at: new Map() };
      this.#remembered.set(user, known);
    }
    const place = `${cluster}/${namespace}`;
    let given = known.at.get(place);
    if (given === undefined) {
      given = this.#give(user, cluster, namespace);
      if (known.at.size >= mostPlaces) known.at.clear();
      known.at.set(place, given);
    }
    return given;
  }

  #give(user: UserInfo, cluster: string, namespace: string): Given {
    const keys = keysOf(user);
    const allowing: Allowing[] = [];
    const missing: string[] = [];
    for (const binding of this.#bindings(cluster, namespace, keys)) {
      const rules = this.rules(cluster, binding.roleRef, binding.namespace);
      if (typeof rules === 'string') missing.push(rules);
      else allowing.push({ rules, binding });
    }
    return { allowing, missing };
  }

  /** All rules that a user has; `error` tells which roles are not there. */
  rulesFor(cluster: string, user: UserInfo, namespace: string): { rules: PolicyRule[]; error?: string } {
    const rules: PolicyRule[] = [];
    const missing: string[] = [];
    for (const binding of this.#bindings(cluster, namespace, keysOf(user))) {
      const found = this.rules(cluster, binding.roleRef, binding.namespace);
      if (typeof found === 'string') missing.push(found);
      else for (const rule of found) rules.push(rule);
    }
    return missing.length > 0 ? { rules, error: aggregate(missing) } : { rules };
  }

  /** The rules of a role, or what is wrong with the reference. `namespace`: the binding's. */
  rules(cluster: string, { kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | string {
    if (kind !== 'Role' && kind !== 'ClusterRole') return `unsupported role reference kind: "${kind}"`;
    const resource = kind === 'Role' ? 'roles' : 'clusterroles';
    const where = kind === 'Role' ? namespace : '';
    const own = this.#clusters.get(cluster);
    const found =
      own?.grants.rules(where, name) ??
      (own?.written.has(resource) ? undefined : defaults().rules(where, name));
    return found ?? `${kind.toLowerCase()}.rbac.authorization.k8s.io ${quoteGo(name)} not found`;
  }

  #bindings(cluster: string, namespace: string, keys: readonly string[]): readonly Binding[] {
    const wide = this.#applying(cluster, 'clusterrolebindings', '', keys);
    if (namespace === '') return wide;
    const narrow = this.#applying(cluster, 'rolebindings', namespace, keys);
    return narrow.length === 0 ? wide : [...wide, ...narrow];
  }

  #applying(
    cluster: string,
    resource: RbacResource,
    namespace: string,
    keys: readonly string[],
  ): readonly Binding[] {
    const own = this.#clusters.get(cluster);
    const mine = own?.grants.applying(namespace, keys) ?? [];
    if (own?.written.has(resource)) return mine;
    const shared = defaults().applying(namespace, keys);
    // An object counts as it is stored, whatever the default of its name says.
    const byDefault = own ? shared.filter((binding) => !own.grants.namesake(binding)) : shared;
    if (mine.length === 0) return byDefault;
    return byDefault.length === 0 ? mine : [...mine, ...byDefault];
  }

  #begin(cluster: string): LogicalCluster {
    const made = new LogicalCluster();
    this.#clusters.set(cluster, made);
    return made;
  }
}

function allowedBy(binding: Binding, user: UserInfo): Verdict {
  return { allowed: true, reason: `RBAC: allowed by ${reasonOf(binding, keysOf(user))}` };
}

/** As Go shows several errors. */
function aggregate(errors: readonly string[]): string {
  const [first = '', ...others] = new Set(errors);
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
}

/** Whether everybody's default of that name gives that subject the same: nobody gave it here. */
function isByDefault(binding: Binding, key: string): boolean {
  const known = defaults().namesake(binding);
  if (known === undefined) return false;
  const { kind, name } = known.roleRef;
  const sameRole = kind === binding.roleRef.kind && name === binding.roleRef.name;
  return sameRole && known.subjects.some((subject) => subject.key === key);
}

let shared: Grants | undefined;

/** The default roles and bindings, once for all. */
function defaults(): Grants {
  if (shared !== undefined) return shared;
  shared = new Grants();
  for (const resource of rbacResources) {
    for (const object of bootstrapObjects(resource)) {
      const { namespace = '', name = '' } = object.metadata;
      if (resource.endsWith('bindings')) shared.putBinding(namespace, name, object);
      else shared.putRole(namespace, name, object);
    }
  }
  return shared;
}
