import { sameJson } from '../deep.ts';
import { jsonType } from '../go-words.ts';
import { decodeJson } from '../json.ts';
import type { JsonObject } from '../object.ts';
import { at, record, text } from '../untyped.ts';
import type { Field } from './field.ts';
import type { KindCheck, KindChecks, Subject } from './kind.ts';
import { configKeyMessages, immutable, qualifiedName } from './rules.ts';

const mostBytes = 1024 * 1024;
const frozen = 'field is immutable when `immutable` is set';

function keepsData({ object, old }: Subject, fields: readonly string[], root: Field): void {
  if (old?.['immutable'] !== true) return;
  if (object['immutable'] !== true) root.child('immutable').forbidden(frozen);
  for (const name of fields) if (!sameJson(object[name], old[name])) root.child(name).forbidden(frozen);
}

const configMap: KindCheck = (subject, root) => {
  keepsData(subject, ['data', 'binaryData'], root);
  const data = record(subject.object['data']);
  const binary = record(subject.object['binaryData']);
  let bytes = 0;
  for (const [key, value] of Object.entries(data)) {
    const path = root.child('data').key(key);
    path.invalidAll(key, configKeyMessages(key));
    if (Object.hasOwn(binary, key)) path.invalid(key, 'duplicate of key present in binaryData');
    bytes += Buffer.byteLength(text(value));
  }
  for (const [key, value] of Object.entries(binary)) {
    root.child('binaryData').key(key).invalidAll(key, configKeyMessages(key));
    bytes += Buffer.byteLength(text(value), 'base64');
  }
  if (bytes > mostBytes) root.tooLong(mostBytes);
};

function dockerConfig(data: JsonObject, key: string, field: Field): void {
  if (data[key] === undefined) {
    field.key(key).required();
    return;
  }
  const content = Buffer.from(text(data[key]), 'base64').toString('utf8');
  try {
    const parsed: unknown = JSON.parse(content);
    if (typeof parsed === 'object' && !Array.isArray(parsed)) return;
    field
      .key(key)
      .invalid(
        '<secret contents redacted>',
        `json: cannot unmarshal ${jsonType(parsed)} into Go value of type map[string]interface {}`,
      );
  } catch {
    field.key(key).invalid('<secret contents redacted>', syntaxMessage(content));
  }
}

/** What encoding/json says of what is no JSON. */
function syntaxMessage(content: string): string {
  try {
    decodeJson(Buffer.from(content));
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

type SecretRule = (object: JsonObject, data: JsonObject, root: Field) => void;

function needs(...keys: string[]): SecretRule {
  return (_object, data, root) => {
    for (const key of keys) if (data[key] === undefined) root.child('data').key(key).required();
  };
}

const accountName = 'kubernetes.io/service-account.name';

const secretTypes: Record<string, SecretRule> = {
  'kubernetes.io/service-account-token': (object, _data, root) => {
    if (text(at(object, 'metadata', 'annotations', accountName))) return;
    root.child('metadata', 'annotations').key(accountName).required();
  },
  'kubernetes.io/dockercfg': (_object, data, root) => dockerConfig(data, '.dockercfg', root.child('data')),
  'kubernetes.io/dockerconfigjson': (_object, data, root) =>
    dockerConfig(data, '.dockerconfigjson', root.child('data')),
  'kubernetes.io/basic-auth': (object, data, root) => {
    if (data['username'] !== undefined || data['password'] !== undefined) return;
    needs('username', 'password')(object, data, root);
  },
  'kubernetes.io/ssh-auth': (_object, data, root) => {
    if (!text(data['ssh-privatekey'])) root.child('data').key('ssh-privatekey').required();
  },
  'kubernetes.io/tls': needs('tls.crt', 'tls.key'),
};

const secret: KindCheck = (subject, root) => {
  const { object, old } = subject;
  const type = text(object['type']);
  if (old && old['type'] !== type) root.child('type').invalid(type, immutable);
  keepsData(subject, ['data'], root);
  const data = record(object['data']);
  let bytes = 0;
  for (const [key, value] of Object.entries(data)) {
    root.child('data').key(key).invalidAll(key, configKeyMessages(key));
    bytes += Buffer.byteLength(text(value), 'base64');
  }
  if (bytes > mostBytes) root.child('data').tooLong(mostBytes);
  if (Object.hasOwn(secretTypes, type)) secretTypes[type]?.(object, data, root);
};

const namespace: KindCheck = ({ spec }, root) => {
  const finalizers = Array.isArray(spec['finalizers']) ? spec['finalizers'] : [];
  for (const finalizer of finalizers) {
    const name = text(finalizer);
    const path = root.child('spec', 'finalizers');
    const before = root.causes.length;
    qualifiedName(name, path);
    if (root.causes.length === before && !name.includes('/') && name !== 'kubernetes') {
      path.invalid(name, 'name is neither a standard finalizer name nor is it fully qualified');
    }
  }
};

export const configChecks: KindChecks = {
  '/ConfigMap': configMap,
  '/Secret': secret,
  '/Namespace': namespace,
};
