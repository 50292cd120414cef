import { mismatches, type Shape } from '../shape.ts';
import type { StatusCause } from '../status.ts';
import { isRecord } from '../untyped.ts';
import { Field } from '../validation/field.ts';
import { decodeYaml } from '../yaml.ts';
import { checkConfiguration } from './check.ts';
import { checkMasked } from './resources.ts';
import type { EncryptionConfiguration } from './types.ts';

const keys: Shape = { keys: [{ name: 'string', secret: 'string' }] };

const shape: Shape = {
  apiVersion: 'string',
  kind: 'string',
  resources: [
    {
      resources: ['string'],
      providers: [
        {
          aesgcm: keys,
          aescbc: keys,
          secretbox: keys,
          identity: {},
          kms: {
            apiVersion: 'string',
            name: 'string',
            cachesize: 'number',
            endpoint: 'string',
            timeout: 'string',
          },
        },
      ],
    },
  ],
};

/** From YAML or JSON. Throws Error, whose message says all that is wrong and shows no key. */
export function readConfiguration(source: string): EncryptionConfiguration {
  if (source.trim() === '') throw new Error('it is empty');
  const value = decoded(source);
  if (!isRecord(value) || value['kind'] !== 'EncryptionConfiguration')
    throw new Error('expected EncryptionConfiguration');
  const { apiVersion } = value;
  if (apiVersion !== 'apiserver.config.k8s.io/v1') {
    throw new Error(
      `no kind "EncryptionConfiguration" is registered for version ${JSON.stringify(apiVersion ?? '')}`,
    );
  }
  const problems = mismatches(value, shape, '');
  if (problems.length > 0) throw new Error(`strict decoding error: ${problems.join(', ')}`);
  const configuration = value as unknown as EncryptionConfiguration;
  const causes: StatusCause[] = [];
  checkConfiguration(configuration, new Field(causes, 'resources'));
  const wrong = causes.map(({ field, message }) => `${field}: ${message}`);
  if (wrong.length > 0) throw new Error(wrong.length === 1 ? wrong[0] : `[${wrong.join(', ')}]`);
  checkMasked(configuration);
  return configuration;
}

function decoded(source: string): unknown {
  try {
    return decodeYaml(source).value;
  } catch {
    // What a parser says may show a key.
    throw new Error('it is neither YAML nor JSON');
  }
}
