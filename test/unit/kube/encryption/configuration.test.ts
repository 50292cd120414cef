import { expect, test } from 'vitest';
import { readConfiguration } from '../../../../kube/encryption/configuration.ts';

const secret = Buffer.alloc(32, 7).toString('base64');
const key = { name: 'a', secret };
const aesgcm = { aesgcm: { keys: [key] } };

function read(resources: unknown, more: object = {}) {
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
  return readConfiguration(JSON.stringify({ ...kind, resources, ...more }));
}

const one = (names: unknown, ...providers: unknown[]) => [{ resources: names, providers }];

test('a KMS plugin may keep the keys', () => {
  const resources = one(['secrets'], { kms: { ...kms, timeout: '1.5s' } }, { identity: {} });
  expect(read(resources).resources).toEqual(resources);
});

test.each([
  [['secrets', 'configmaps', 'pandas.awesome.bears.example']],
  [['*.']],
  [['*.apps', 'secrets']],
  [['*.*']],
])('%j may be encrypted', (names) => {
  const resources = one(names, aesgcm, { identity: {} });
  expect(read(resources).resources).toEqual(resources);
});

const overlap =
  "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";
const kmsAt = 'resources[0].providers[0].kms';
const kms = { apiVersion: 'v2', name: 'a', endpoint: 'unix:///a' };
const keysAt = 'resources[0].providers[0].aesgcm.keys';

test.each<[string, unknown, string]>([
  ['no rules', [], 'resources: Required value: at least one resources is required'],
  [
    'no resources',
    one([], aesgcm),
    'resources[0].resources: Required value: at least one resources[0].resources is required',
  ],
  [
    'no providers',
    one(['secrets']),
    'resources[0].providers: Required value: at least one resources[0].providers is required',
  ],
  [
    'a resource twice',
    one(['secrets', 'secrets'], aesgcm),
    'resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times',
  ],
  [
    'a resource and its group',
    one(['secrets', '*.'], aesgcm),
    `resources[0].resources: Invalid value: ["secrets","*."]: ${overlap}`,
  ],
  [
    'a resource and all',
    one(['secrets', '*.*'], aesgcm),
    `resources[0].resources: Invalid value: ["secrets","*.*"]: ${overlap}`,
  ],
  [
    'a capital',
    one(['Secrets'], aesgcm),
    'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters',
  ],
  [
    'a star',
    one(['*'], aesgcm),
    `resources[0].resources[0]: Invalid value: "*": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources`,
  ],
  [
    'a resource of all groups',
    one(['secrets.*'], aesgcm),
    'resources[0].resources[0]: Invalid value: "secrets.*": encrypting the same resource across groups is not supported',
  ],
  [
    'no API',
    one(['serviceipallocations'], aesgcm),
    'resources[0].resources[0]: Invalid value: "serviceipallocations": resources which do not have REST API/s cannot be encrypted',
  ],
  [
    'extensions',
    one(['ingresses.extensions'], aesgcm),
    `resources[0].resources[0]: Invalid value: "ingresses.extensions": 'extensions' group has been removed and cannot be used for encryption`,
  ],
  [
    'a provider that is none',
    one(['secrets'], {}),
    'resources[0].providers[0]: Invalid value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
  ],
  [
    'two providers in one',
    one(['secrets'], { ...aesgcm, identity: {} }),
    'resources[0].providers[0]: Invalid value: more than one provider specified in a single element, should split into different list elements',
  ],
  [
    'aescbc',
    one(['secrets'], { aescbc: { keys: [key] } }),
    'resources[0].providers[0]: Unsupported value: "aescbc": supported values: "kms", "aesgcm", "identity"',
  ],
  [
    'secretbox',
    one(['secrets'], { secretbox: { keys: [key] } }),
    'resources[0].providers[0]: Unsupported value: "secretbox": supported values: "kms", "aesgcm", "identity"',
  ],
  [
    'a KMS of version 1, which is the default',
    one(['secrets'], { kms: { name: 'a', endpoint: 'unix:///a' } }),
    `${kmsAt}.apiVersion: Invalid value: "v1": KMS v1, which is meant where none is named, is not supported: use a plugin of KMS v2, and v2`,
  ],
  [
    'a KMS of version 3',
    one(['secrets'], { kms: { ...kms, apiVersion: 'v3' } }),
    `${kmsAt}.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported`,
  ],
  [
    'a KMS without anything',
    one(['secrets'], { kms: { apiVersion: 'v2' } }),
    `[${kmsAt}.name: Required value: name is a mandatory field for a provider, ${kmsAt}.endpoint: Invalid value: "": endpoint is a mandatory field for a kms]`,
  ],
  [
    'a KMS with a colon',
    one(['secrets'], { kms: { ...kms, name: 'a:b' } }),
    `${kmsAt}.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'`,
  ],
  [
    'two KMS of one name',
    [...one(['secrets'], { kms }), ...one(['configmaps'], { kms })],
    'resources[1].providers[0].kms.name: Invalid value: "a": duplicate KMS provider name a, names must be unique',
  ],
  [
    'a KMS elsewhere',
    one(['secrets'], { kms: { ...kms, endpoint: 'tcp://127.0.0.1:1' } }),
    `${kmsAt}.endpoint: Invalid value: "tcp://127.0.0.1:1": unsupported scheme "tcp" for KMS provider, only unix is supported`,
  ],
  [
    'a KMS nowhere',
    one(['secrets'], { kms: { ...kms, endpoint: 'unix://' } }),
    `${kmsAt}.endpoint: Invalid value: "unix://": invalid endpoint for kms provider, error: it names no file`,
  ],
  [
    'a KMS without a file',
    one(['secrets'], { kms: { ...kms, endpoint: 'unix:///@kms' } }),
    `${kmsAt}.endpoint: Invalid value: "unix:///@kms": sockets without a file are not supported: anybody may connect to them`,
  ],
  [
    'a KMS that is not waited for',
    one(['secrets'], { kms: { ...kms, timeout: '0s' } }),
    `${kmsAt}.timeout: Invalid value: "0s": timeout should be a positive value`,
  ],
  [
    'a KMS with a cache',
    one(['secrets'], { kms: { ...kms, cachesize: 5 } }),
    `${kmsAt}.cachesize: Invalid value: 5: cachesize is not supported in v2`,
  ],
  ['no keys', one(['secrets'], { aesgcm: {} }), `${keysAt}: Required value: at least one keys is required`],
  [
    'a key without anything',
    one(['secrets'], { aesgcm: { keys: [{}] } }),
    `[${keysAt}[0].name: Required value: name is a mandatory field for a key, ${keysAt}[0].secret: Required value: secret is a mandatory field for a key]`,
  ],
  [
    'a secret that is no base64',
    one(['secrets'], { aesgcm: { keys: [{ name: 'a', secret: 'hunter2' }] } }),
    `${keysAt}[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
  ],
  [
    'a short secret',
    one(['secrets'], { aesgcm: { keys: [{ name: 'a', secret: 'YWJj' }] } }),
    `${keysAt}[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [16 24 32]`,
  ],
  [
    'a rule behind one for its group',
    [...one(['*.apps'], aesgcm), ...one(['deployments.apps'], aesgcm)],
    'error while building transformers: resource "deployments.apps" is masked by earlier rule "*.apps"',
  ],
  [
    'a rule behind one for all',
    [...one(['*.*'], aesgcm), ...one(['secrets'], aesgcm)],
    'error while building transformers: resource "secrets" is masked by earlier rule "*.*"',
  ],
  [
    'an unknown field',
    one(['secrets'], { aesgcm: { keys: [{ ...key, more: 'x' }] } }),
    'strict decoding error: unknown field "resources[0].providers[0].aesgcm.keys[0].more"',
  ],
])('%s', (_, resources, message) => {
  expect(() => read(resources)).toThrow(new Error(message));
});

test.each([
  ['', 'it is empty'],
  ['kind: Pod', 'expected EncryptionConfiguration'],
  [
    'kind: EncryptionConfiguration\napiVersion: v1',
    'no kind "EncryptionConfiguration" is registered for version "v1"',
  ],
  ['secret: "hunter2', 'it is neither YAML nor JSON'],
])('%j', (text, message) => {
  expect(() => readConfiguration(text)).toThrow(new Error(message));
});

test('a key that stands where a field is to is not shown', () => {
  const lost = { aesgcm: { keys: [{ name: 'a', [secret]: 'x' }] } };
  expect(() => read(one(['secrets'], lost))).toThrow(`unknown field in ${keysAt}[0]`);
  expect(() => read(one(['secrets'], lost))).not.toThrow(secret);
});
