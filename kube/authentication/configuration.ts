import { mismatches, type Shape } from '../shape.ts';
import type { StatusCause } from '../status.ts';
import { isRecord } from '../untyped.ts';
import { Field } from '../validation/field.ts';
import { decodeYaml } from '../yaml.ts';
import { checkConfiguration } from './check.ts';
import type { AuthenticationConfiguration } from './types.ts';

const mapping = { claim: 'string', prefix: 'string', expression: 'string' } as const;

const shape: Shape = {
  apiVersion: 'string',
  kind: 'string',
  jwt: [
    {
      issuer: {
        url: 'string',
        discoveryURL: 'string',
        certificateAuthority: 'string',
        audiences: ['string'],
        audienceMatchPolicy: 'string',
        egressSelectorType: 'string',
      },
      claimValidationRules: [
        { claim: 'string', requiredValue: 'string', expression: 'string', message: 'string' },
      ],
      claimMappings: {
        username: mapping,
        groups: mapping,
        uid: { claim: 'string', expression: 'string' },
        extra: [{ key: 'string', valueExpression: 'string' }],
      },
      userValidationRules: [{ expression: 'string', message: 'string' }],
    },
  ],
  anonymous: { enabled: 'boolean', conditions: [{ path: 'string' }] },
};

const group = 'apiserver.config.k8s.io';
const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);

/** From YAML or JSON. Throws Error, whose message says all that is wrong; `issuers`: those that it may not name. */
export function readConfiguration(source: string, issuers: readonly string[]): AuthenticationConfiguration {
  if (source.trim() === '') throw new Error('empty config data');
  const value: unknown = decodeYaml(source).value;
  if (!isRecord(value) || value['kind'] !== 'AuthenticationConfiguration')
    throw new Error('expected AuthenticationConfiguration');
  const { apiVersion } = value;
  if (!versions.includes(String(apiVersion))) {
    throw new Error(
      `no kind "AuthenticationConfiguration" is registered for version ${JSON.stringify(apiVersion ?? '')}`,
    );
  }
  const problems = mismatches(value, shape);
  if (problems.length > 0) throw new Error(`strict decoding error: ${problems.join(', ')}`);
  const configuration = value as AuthenticationConfiguration;
  const causes: StatusCause[] = [];
  checkConfiguration(configuration, new Field(causes), issuers);
  const wrong = causes.map(({ field, message }) => `${field}: ${message}`);
  if (wrong.length === 0) return configuration;
  throw new Error(
    `invalid authentication configuration: ${wrong.length === 1 ? wrong[0] : `[${wrong.join(', ')}]`}`,
  );
}
