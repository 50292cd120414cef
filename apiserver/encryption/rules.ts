import { placements } from '../../cluster/names.ts';
import { slicesStored } from '../../cluster/slices.ts';
import { parseGroupResource } from '../../kube/encryption/resources.ts';
import type {
  EncryptionConfiguration,
  KmsConfiguration,
  ProviderConfiguration,
} from '../../kube/encryption/types.ts';
import { prefixRange, type Range } from '../../storage/store.ts';
import { aesgcm } from './aesgcm.ts';
import { identity, type Provider, Transformer } from './transformer.ts';

type Plugins = (kms: KmsConfiguration) => Provider;

const kindOfSlices = `${slicesStored.group}/${slicesStored.resource}`;
const placement = `/${placements.group}/${placements.resource}/`;

/** Whose values a configuration encrypts, by the keys of the store: `/<group|core>/<resource>/...`. */
export class Rules {
  readonly #rules = new Map<string, Transformer>();
  /** Of kinds that were asked for. */
  readonly #known = new Map<string, Transformer | undefined>();

  /** `plugin`: the one of that configuration; asked once for each. */
  constructor({ resources }: EncryptionConfiguration, plugin?: Plugins) {
    const providers = new Map<string, Provider[]>();
    for (const rule of resources) {
      const own = rule.providers.flatMap((provider) => providersOf(provider, plugin));
      for (const text of rule.resources) {
        const { group, resource } = parseGroupResource(text);
        const name = `${group || 'core'}/${resource}`;
        providers.set(name, [...(providers.get(name) ?? []), ...own]);
      }
    }
    for (const [name, list] of providers) this.#rules.set(name, new Transformer(list));
  }

  /** Undefined: values are stored as they are. */
  of(key: string): Transformer | undefined {
    const kind = kindOf(key);
    if (kind === undefined) return undefined;
    // What clusters say of Placements is read in them, and named by nobody.
    if (kind === kindOfSlices) return this.of(placement);
    if (this.#known.has(kind)) return this.#known.get(kind);
    const [group = ''] = kind.split('/');
    const rules = this.#rules;
    // What begins with `!` is the server's own, and no object.
    const found = group.startsWith('!')
      ? undefined
      : (rules.get(kind) ?? rules.get(`${group}/*`) ?? rules.get('*/*'));
    this.#known.set(kind, found);
    return found;
  }

  /** Whether there is nothing to do for any key of the range. */
  spares(range: Range): boolean {
    return isOfOneKind(range) && this.of(range.start) === undefined;
  }
}

/** Such as a collection. Placements and what is said of them are one, by one rule. */
export function isOfOneKind({ start, end }: Range): boolean {
  const kind = start.startsWith(placement) ? kindOfSlices : kindOf(start);
  return kind !== undefined && end <= prefixRange(`/${kind}/`).end;
}

/** The first two folders; undefined: the key has no more. */
function kindOf(key: string): string | undefined {
  const second = key.indexOf('/', key.indexOf('/', 1) + 1);
  return key.startsWith('/') && second > 1 ? key.slice(1, second) : undefined;
}

function providersOf({ aesgcm: keyed, kms }: ProviderConfiguration, plugin?: Plugins): Provider[] {
  if (kms) {
    if (plugin === undefined) throw new Error(`nobody calls the KMS provider ${kms.name}`);
    return [plugin(kms)];
  }
  return keyed ? (keyed.keys ?? []).map(aesgcm) : [identity];
}
