import { CostExceeded } from '../../../kube/cel/rule.ts';
import { andThen, type Later } from '../../../kube/later.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import type { Catalog } from '../../registry/catalog.ts';
import { decodeStored } from '../../registry/codec.ts';
import { collectionRange } from '../../registry/keys.ts';
import { recentList } from '../../registry/recent.ts';
import type { ServedResource } from '../../served.ts';
import { group, isTakenAway } from '../matching/exempt.ts';
import { hasRuleFor } from '../matching/match.ts';
import { type Meant, selected } from '../matching/question.ts';
import { mostPolicies } from './costs.ts';
import { ConfigurationError, paramKindProblem, paramsOf } from './params.ts';
import { type Binding, bindingOf, type Policy, type Resources } from './policy.ts';

/** A policy that a binding has asked about a request, with what that gives it to compare with. */
export interface Invocation<P extends Policy> extends Meant {
  policy: P;
  binding: Binding;
  params: KubeObject | undefined;
  /** That of the request, where it is in one. */
  namespace: KubeObject | undefined;
}

/** It cannot be asked, and is not to be ignored then. */
export interface Misconfigured<P extends Policy> {
  policy: P;
  /** Undefined: no binding of it can. */
  binding: Binding | undefined;
  problem: string;
}

interface Kinds<P extends Policy> {
  policies: string;
  bindings: string;
  read(object: KubeObject): P;
}

/** The policies of a kind that a logical cluster has bound. */
export class BoundPolicies<P extends Policy> {
  readonly #store: Store;
  readonly #catalog: Catalog;
  readonly #kinds: Kinds<P>;
  readonly #parsed = new WeakMap<Uint8Array, P | Binding>();

  constructor({ store, catalog }: { store: Store; catalog: Catalog }, kinds: Kinds<P>) {
    this.#store = store;
    this.#catalog = catalog;
    this.#kinds = kinds;
  }

  /** By the policies' names, then by the bindings'; undefined at once where nothing is bound. */
  invocations(request: AdmissionRequest): Later<readonly (Invocation<P> | Misconfigured<P>)[] | undefined> {
    return andThen(this.#entries(this.#kinds.bindings, request), (bound) =>
      bound.length === 0 ? undefined : this.#invocations(request, bound),
    );
  }

  /** Whether one that is bound has a rule for such requests. */
  concern(request: AdmissionRequest): Later<boolean> {
    return andThen(this.#entries(this.#kinds.bindings, request), (bound) => {
      if (bound.length === 0) return false;
      const bindings = this.#byPolicy(bound);
      return andThen(this.#entries(this.#kinds.policies, request), (entries) =>
        entries.some((entry) => {
          const { name, resources } = this.#read(entry, this.#kinds.read);
          return bindings.has(name) && (resources.isAny || hasRuleFor(resources.selecting, request));
        }),
      );
    });
  }

  async #invocations(request: AdmissionRequest, bound: readonly Entry[]) {
    if (await isTakenAway(this.#store, request)) return [];
    const bindings = this.#byPolicy(bound);
    // Those that want it in one version look at the same.
    const shown = new Map<ServedResource, Meant>();
    let namespace: ReturnType<typeof namespaceOf> | undefined;
    const found: (Invocation<P> | Misconfigured<P>)[] = [];
    for (const entry of await this.#entries(this.#kinds.policies, request)) {
      const policy = this.#read(entry, this.#kinds.read);
      const its = bindings.get(policy.name) ?? [];
      const selected = its.length > 0 ? await this.#selected(policy.resources, request) : undefined;
      if (selected === undefined) continue;
      const meant = shown.get(selected.as) ?? selected;
      shown.set(selected.as, meant);
      const problem = paramKindProblem(policy, request, this.#catalog);
      if (problem !== undefined) {
        if (!policy.ignoresFailure) found.push({ policy, binding: undefined, problem });
        continue;
      }
      for (const binding of its) {
        if (!(await this.#means(binding, request))) continue;
        if (found.length >= mostPolicies) {
          if (!policy.ignoresFailure) found.push({ policy, binding, problem: new CostExceeded().message });
          continue;
        }
        namespace ??= namespaceOf(request);
        const all = { ...meant, namespace: await namespace };
        for (const one of await this.#invoked({ policy, binding }, request, all)) found.push(one);
      }
    }
    return found;
  }

  #byPolicy(bound: readonly Entry[]): Map<string, Binding[]> {
    const bindings = new Map<string, Binding[]>();
    for (const entry of bound) {
      const binding = this.#read(entry, bindingOf);
      const its = bindings.get(binding.policy);
      if (its) its.push(binding);
      else bindings.set(binding.policy, [binding]);
    }
    return bindings;
  }

  async #means({ resources }: Binding, request: AdmissionRequest): Promise<boolean> {
    const isOpen = resources.isAny && !hasSelectors(resources);
    return isOpen || (await this.#selected(resources, request)) !== undefined;
  }

  async #invoked(
    { policy, binding }: { policy: P; binding: Binding },
    request: AdmissionRequest,
    meant: Meant & Pick<Invocation<P>, 'namespace'>,
  ): Promise<(Invocation<P> | Misconfigured<P>)[]> {
    try {
      const all = await paramsOf(policy, binding, request, this.#catalog);
      return all.map((params) => ({ policy, binding, params, ...meant }));
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      if (policy.ignoresFailure) return [];
      return [{ policy, binding, problem: `failed to configure binding: ${error.message}` }];
    }
  }

  #selected(
    { selecting, excluded, isAny }: Resources,
    request: AdmissionRequest,
  ): Promise<Meant | undefined> {
    const rules = isAny ? [everything] : selecting.rules;
    return selected({ ...selecting, rules }, request, this.#catalog, excluded);
  }

  #entries(resource: string, { cluster }: AdmissionRequest): Later<readonly Entry[]> {
    return recentList(this.#store, collectionRange({ group, resource, namespaced: false }, cluster, ''));
  }

  #read<T extends P | Binding>(entry: Entry, read: (object: KubeObject) => T): T {
    const known = this.#parsed.get(entry.value);
    if (known) return known as T;
    const made = read(decodeStored(entry));
    this.#parsed.set(entry.value, made);
    return made;
  }
}

const everything = {
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*/*'],
  scope: '*',
  names: [],
};

function hasSelectors({ selecting, excluded }: Resources): boolean {
  const { namespaceSelector, objectSelector } = selecting;
  return excluded.length + namespaceSelector.requirements.length + objectSelector.requirements.length > 0;
}

/** Of a Namespace itself there is none. */
async function namespaceOf({ cluster, namespace, requested, registry }: AdmissionRequest) {
  const { info } = requested;
  if (namespace === '' || (info.group === '' && info.resource === 'namespaces')) return undefined;
  return await registry.get({ cluster, group: '', resource: 'namespaces', name: namespace });
}
