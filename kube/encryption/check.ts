import type { Field } from '../validation/field.ts';
import { checkKms } from './kms.ts';
import { formatGroupResource, parseGroupResource } from './resources.ts';
import type { EncryptionConfiguration, EncryptionKey, ProviderConfiguration } from './types.ts';

const providers = ['kms', 'aesgcm', 'aescbc', 'secretbox', 'identity'] as const;
/** aescbc authenticates nothing; Node's crypto has no XSalsa20 for secretbox. */
const supported: readonly (typeof providers)[number][] = ['kms', 'aesgcm', 'identity'];
const keyLengths = [16, 24, 32];
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** All that is wrong with it, in kube-apiserver's words. */
export function checkConfiguration({ resources }: EncryptionConfiguration, root: Field): void {
  if ((resources ?? []).length === 0) {
    root.required('at least one resources is required');
    return;
  }
  const plugins = new Set<string>();
  for (const [index, rule] of resources.entries()) {
    const named = root.index(index).child('resources');
    const field = root.index(index).child('providers');
    const names = rule?.resources ?? [];
    if (names.length === 0) named.required(`at least one ${named.path} is required`);
    checkOverlap(names, named);
    for (const [at, name] of names.entries()) checkResource(name, named.index(at));
    const list = rule?.providers ?? [];
    if (list.length === 0) field.required(`at least one ${field.path} is required`);
    for (const [at, provider] of list.entries()) checkProvider(provider ?? {}, field.index(at), plugins);
  }
}

function checkOverlap(names: readonly string[], field: Field): void {
  const parsed = names.map(parseGroupResource);
  const any = parsed.some(({ group, resource }) => group === '*' && resource === '*');
  const distinct = new Set(names.map((name) => formatGroupResource(parseGroupResource(name))));
  if (distinct.size < names.length)
    field.invalid(names, 'the same resource cannot be specified multiple times');
  const within = parsed.some(({ group, resource }) => {
    return resource === '*' && parsed.some((other) => other.group === group && other.resource !== '*');
  });
  if (distinct.size > 1 && (any || within)) {
    field.invalid(
      names,
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
    );
  }
}

const noApi = new Set(['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations']);

function checkResource(name: string, field: Field): void {
  const wrong = wrongResource(name);
  if (wrong !== undefined) field.invalid(name, wrong);
}

function wrongResource(name: string): string | undefined {
  const { group, resource } = parseGroupResource(name);
  if (name !== name.toLowerCase()) return 'resource name should not contain capital letters';
  if (name === '*')
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (noApi.has(name)) return 'resources which do not have REST API/s cannot be encrypted';
  if (group === 'events.k8s.io')
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  if (group === '*' && resource !== '*') return 'encrypting the same resource across groups is not supported';
  return undefined;
}

function checkProvider(provider: ProviderConfiguration, field: Field, plugins: Set<string>): void {
  const named = providers.filter((name) => provider[name] !== undefined && provider[name] !== null);
  const [name] = named;
  if (name === undefined) {
    field.invalidOf(
      provider,
      'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
    );
  } else if (named.length > 1) {
    field.invalidOf(
      provider,
      'more than one provider specified in a single element, should split into different list elements',
    );
  } else if (!supported.includes(name)) {
    field.notSupported(name, supported);
  } else if (name === 'aesgcm') {
    checkKeys(provider.aesgcm?.keys ?? [], field.child('aesgcm', 'keys'));
  } else if (provider.kms) {
    checkKms(provider.kms, field.child('kms'), plugins);
    plugins.add(provider.kms.name ?? '');
  }
}

function checkKeys(keys: readonly EncryptionKey[], field: Field): void {
  if (keys.length === 0) field.required('at least one keys is required');
  for (const [index, key] of keys.entries()) checkKey(key, field.index(index));
}

function checkKey(key: Partial<EncryptionKey> | null, field: Field): void {
  if (!key?.name) field.child('name').required('name is a mandatory field for a key');
  if (!key?.secret) field.child('secret').required('secret is a mandatory field for a key');
  else checkSecret(key.secret.replace(/[\r\n]/g, ''), field.child('secret'));
}

function checkSecret(text: string, field: Field): void {
  const { length } = Buffer.from(text, 'base64');
  if (!base64.test(text)) field.invalid('REDACTED', 'secrets must be base64 encoded');
  else if (!keyLengths.includes(length)) {
    const lengths = keyLengths.join(' ');
    field.invalid(
      'REDACTED',
      `secret is not of the expected length, got ${length}, expected one of [${lengths}]`,
    );
  }
}
