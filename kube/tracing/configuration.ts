import { jsonType } from '../go-words.ts';
import { mismatches, type Shape } from '../shape.ts';
import type { StatusCause } from '../status.ts';
import { isRecord } from '../untyped.ts';
import { Field } from '../validation/field.ts';
import { decodeYaml } from '../yaml.ts';
import { endpointProblem, withScheme } from './endpoint.ts';

/** https://kubernetes.io/docs/reference/config-api/apiserver-config.v1/#apiserver-k8s-io-v1-TracingConfiguration */
export interface TracingConfiguration {
  /** host:port, or unix:///PATH, of an OTLP receiver that speaks gRPC without TLS. */
  endpoint: string;
  /** Of a million requests that nobody asked to be traced, how many are. */
  samplingRatePerMillion: number;
}

const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`);
const shape: Shape = {
  apiVersion: 'string',
  kind: 'string',
  endpoint: 'string',
  samplingRatePerMillion: 'number',
};
const defaults: TracingConfiguration = { endpoint: 'localhost:4317', samplingRatePerMillion: 0 };
const into = 'into Go struct field TracingConfiguration.TracingConfiguration';
const most = 1_000_000;

/** From YAML or JSON. Throws Error, whose message says all that is wrong, in kube-apiserver's words. */
export function readConfiguration(source: string): TracingConfiguration {
  // Nothing is said of anything.
  if (source.trim() === '') return defaults;
  const value = decoded(source);
  const { endpoint, samplingRatePerMillion: rate } = value;
  const configuration = {
    endpoint: typeof endpoint === 'string' ? endpoint : undefined,
    rate: typeof rate === 'number' ? rate : undefined,
  };
  const causes: StatusCause[] = [];
  check(configuration, new Field(causes));
  const wrong = causes.map(({ field, message }) => `${field}: ${message}`);
  if (wrong.length > 0)
    throw new Error(
      `failed to validate tracing configuration: ${wrong.length === 1 ? wrong[0] : `[${wrong.join(', ')}]`}`,
    );
  return {
    endpoint: configuration.endpoint || defaults.endpoint,
    samplingRatePerMillion: configuration.rate ?? defaults.samplingRatePerMillion,
  };
}

function decoded(source: string): Record<string, unknown> {
  const failed = (why: string) =>
    new Error(`failed to read tracing config: unable to decode tracing configuration data: ${why}`);
  let found: ReturnType<typeof decodeYaml>;
  try {
    found = decodeYaml(source);
  } catch (error) {
    throw failed((error as Error).message);
  }
  const { value, duplicates } = found;
  if (!isRecord(value) || value['kind'] !== 'TracingConfiguration')
    throw failed('expected TracingConfiguration');
  const { apiVersion, endpoint, samplingRatePerMillion: rate } = value;
  if (!versions.includes(String(apiVersion)))
    throw failed(
      `no kind "TracingConfiguration" is registered for version ${JSON.stringify(apiVersion ?? '')} in scheme "pkg/runtime/scheme.go:111"`,
    );
  if (!isNothing(rate) && !isInt32(rate)) {
    const type = jsonType(rate);
    const given = type === 'number' ? `number ${rate}` : type;
    throw failed(`json: cannot unmarshal ${given} ${into}.samplingRatePerMillion of type int32`);
  }
  if (!isNothing(endpoint) && typeof endpoint !== 'string')
    throw failed(`json: cannot unmarshal ${jsonType(endpoint)} ${into}.endpoint of type string`);
  const problems = [...duplicates, ...mismatches(value, shape)];
  if (problems.length > 0) throw failed(`strict decoding error: ${problems.join(', ')}`);
  return value;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isInt32(value: unknown): boolean {
  return typeof value === 'number' && (value | 0) === value;
}

/** As k8s.io/component-base/tracing/api/v1 does, and that our client of gRPC knows the scheme. */
function check(
  { endpoint, rate }: { endpoint: string | undefined; rate: number | undefined },
  at: Field,
): void {
  const sampling = at.child('samplingRatePerMillion');
  if (rate !== undefined && rate < 0) sampling.invalid(rate, 'sampling rate must be positive');
  if (rate !== undefined && rate > most)
    sampling.invalid(rate, 'sampling rate per million must be less than or equal to one million');
  if (endpoint === undefined) return;
  const problem = endpointProblem(endpoint);
  if (problem !== undefined) at.child('endpoint').invalid(withScheme(endpoint), problem);
}
