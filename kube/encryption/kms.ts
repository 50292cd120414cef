import { parseDuration } from '../duration.ts';
import type { Field } from '../validation/field.ts';
import type { KmsConfiguration } from './types.ts';

/** All that is wrong with it, in kube-apiserver's words but for what is not supported; `others`: the names before it. */
export function checkKms(kms: Partial<KmsConfiguration>, field: Field, others: ReadonlySet<string>): void {
  const { apiVersion = 'v1', name = '', endpoint = '', cachesize } = kms;
  if (name === '') field.child('name').required('name is a mandatory field for a provider');
  if (name.includes(':')) {
    field.child('name').invalid(name, `invalid KMS provider name ${name}, must not contain ':'`);
  }
  if (others.has(name)) {
    field.child('name').invalid(name, `duplicate KMS provider name ${name}, names must be unique`);
  }
  checkTimeout(kms.timeout, field.child('timeout'));
  const wrong = wrongEndpoint(endpoint);
  if (wrong !== undefined) field.child('endpoint').invalid(endpoint, wrong);
  if (apiVersion === 'v1') {
    const detail =
      'KMS v1, which is meant where none is named, is not supported: use a plugin of KMS v2, and v2';
    field.child('apiVersion').invalid(apiVersion, detail);
  } else if (apiVersion !== 'v2') {
    const detail = 'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported';
    field.child('apiVersion').invalid(apiVersion, detail);
  } else if (cachesize !== undefined && cachesize !== null) {
    field.child('cachesize').invalid(cachesize, 'cachesize is not supported in v2');
  }
}

function checkTimeout(timeout: string | undefined, field: Field): void {
  try {
    if (timeoutOf({ timeout }) <= 0) field.invalid(timeout, 'timeout should be a positive value');
  } catch (error) {
    field.invalid(timeout, (error as Error).message);
  }
}

function wrongEndpoint(endpoint: string): string | undefined {
  if (endpoint === '') return 'endpoint is a mandatory field for a kms';
  if (!URL.canParse(endpoint))
    return `invalid endpoint for kms provider, error: parse ${JSON.stringify(endpoint)}`;
  const { protocol } = new URL(endpoint);
  if (protocol !== 'unix:') {
    return `unsupported scheme ${JSON.stringify(protocol.slice(0, -1))} for KMS provider, only unix is supported`;
  }
  const path = socketOf({ endpoint });
  if (path === '' || path === '/') return 'invalid endpoint for kms provider, error: it names no file';
  return path.startsWith('/@')
    ? 'sockets without a file are not supported: anybody may connect to them'
    : undefined;
}

/** The path of the plugin's socket. */
export function socketOf({ endpoint }: Pick<KmsConfiguration, 'endpoint'>): string {
  return decodeURIComponent(new URL(endpoint).pathname);
}

/** In milliseconds. Throws DurationError. */
export function timeoutOf({ timeout = '3s' }: { timeout?: string | undefined }): number {
  return parseDuration(timeout);
}
