import { type PolicyRule, prefixOf } from './rule.ts';

/** A rule, each of its lists to be asked at once. */
interface Held {
  verbs: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  resources: ReadonlySet<string>;
  names: ReadonlySet<string>;
}

type Index = Map<string, Held[]>;

/**
 * Rules that somebody holds, found by verb, group, resource, name or URL: what covers one piece is looked for among the
 * fewest rules that can. `steps` counts the rules that were looked at, and long URLs for more than one.
 */
export class HeldRules {
  steps = 0;
  readonly #verbs: Index = new Map();
  readonly #groups: Index = new Map();
  readonly #resources: Index = new Map();
  readonly #names: Index = new Map();
  readonly #unnamed: Held[] = [];
  readonly #urls: Index = new Map();
  /** By what comes before their `*`, and how long that is. */
  readonly #prefixes: Index = new Map();
  readonly #lengths = new Set<number>();

  constructor(rules: readonly PolicyRule[]) {
    // Bound twice, held once.
    for (const rule of new Set(rules)) this.#add(rule);
  }

  /** `wanted` has at most one of each. */
  covers({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): boolean {
    const [verb = ''] = verbs;
    const [url] = nonResourceURLs;
    if (url !== undefined) return this.#coversUrl(verb, url);
    const [group = ''] = apiGroups;
    const [resource = ''] = resources;
    const [name] = resourceNames;
    const slash = resource.indexOf('/');
    const wide = slash < 0 ? '*' : `*${resource.slice(slash)}`;
    const candidates = fewest([
      [this.#verbs.get(verb), this.#verbs.get('*')],
      [this.#groups.get(group), this.#groups.get('*')],
      [this.#resources.get(resource), this.#resources.get(wide), this.#resources.get('*')],
      [this.#unnamed, name === undefined ? undefined : this.#names.get(name)],
    ]);
    const isNamed = ({ names }: Held) => names.size === 0 || (name !== undefined && names.has(name));
    return this.#some(
      candidates,
      (held) =>
        hasOrAll(held.verbs, verb) &&
        hasOrAll(held.groups, group) &&
        (hasOrAll(held.resources, resource) || held.resources.has(wide)) &&
        isNamed(held),
    );
  }

  #coversUrl(verb: string, url: string): boolean {
    const isHeld = ({ verbs, names }: Held) => names.size === 0 && hasOrAll(verbs, verb);
    if (this.#some([this.#urls.get(url)], isHeld)) return true;
    for (const length of this.#lengths) {
      this.steps++;
      if (length > url.length) continue;
      this.steps += length / 64;
      if (this.#some([this.#prefixes.get(url.slice(0, length))], isHeld)) return true;
    }
    return false;
  }

  #some(lists: Candidates, is: (held: Held) => boolean): boolean {
    for (const list of lists) {
      for (const held of list ?? none) {
        this.steps++;
        if (is(held)) return true;
      }
    }
    return false;
  }

  #add({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): void {
    const held: Held = {
      verbs: new Set(verbs),
      groups: new Set(apiGroups),
      resources: new Set(resources),
      names: new Set(resourceNames),
    };
    for (const one of held.verbs) put(this.#verbs, one, held);
    for (const one of held.groups) put(this.#groups, one, held);
    for (const one of held.resources) put(this.#resources, one, held);
    for (const one of held.names) put(this.#names, one, held);
    if (held.names.size === 0) this.#unnamed.push(held);
    for (const url of new Set(nonResourceURLs)) {
      put(this.#urls, url, held);
      if (!url.endsWith('*')) continue;
      const prefix = prefixOf(url);
      put(this.#prefixes, prefix, held);
      this.#lengths.add(prefix.length);
    }
  }
}

type Candidates = readonly (readonly Held[] | undefined)[];

const none: readonly Held[] = [];

function fewest(all: readonly Candidates[]): Candidates {
  let best: Candidates = [];
  let least = Number.POSITIVE_INFINITY;
  for (const lists of all) {
    const count = lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
    if (count < least) [best, least] = [lists, count];
  }
  return best;
}

function put(index: Index, key: string, held: Held): void {
  const there = index.get(key);
  if (there === undefined) index.set(key, [held]);
  else there.push(held);
}

function hasOrAll(set: ReadonlySet<string>, one: string): boolean {
  return set.has(one) || set.has('*');
}
