import { at, int, isRecord, record, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { isSet, nonNegative, portNumber, portNumberOrName } from '../rules.ts';

const schemes = ['HTTP', 'HTTPS'];

function httpGet(action: unknown, field: Field): void {
  if (!text(at(action, 'path'))) field.child('path').required();
  portNumberOrName(at(action, 'port'), field.child('port'));
  const scheme = text(at(action, 'scheme'));
  if (!schemes.includes(scheme)) field.child('scheme').notSupported(scheme, schemes);
  for (const header of records(at(action, 'httpHeaders'))) {
    const name = text(header['name']);
    if (/^[-A-Za-z0-9]+$/.test(name)) continue;
    const rule = "a valid HTTP header must consist of alphanumeric characters or '-'";
    const example = "(e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
    field.child('httpHeaders').invalid(name, `${rule} ${example}`);
  }
}

type Check = (action: unknown, field: Field, graceSeconds: number) => void;

const handlers: [string, Check][] = [
  [
    'exec',
    (action, field) => {
      if (strings(at(action, 'command')).length === 0) field.child('command').required();
    },
  ],
  ['httpGet', httpGet],
  ['tcpSocket', (action, field) => portNumberOrName(at(action, 'port'), field.child('port'))],
  ['grpc', (action, field) => portNumber(at(action, 'port'), field.child('port'))],
  [
    'sleep',
    (action, field, graceSeconds) => {
      const seconds = int(at(action, 'seconds'));
      if (seconds >= 0 && seconds <= graceSeconds) return;
      const bound = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
      field.invalid(seconds, bound);
    },
  ],
];

export function handler(value: unknown, graceSeconds: number, field: Field): void {
  let found = false;
  for (const [name, check] of handlers) {
    if (!isSet(value, name)) continue;
    if (found) field.child(name).forbidden('may not specify more than 1 handler type');
    else check(at(value, name), field.child(name), graceSeconds);
    found = true;
  }
  if (!found) field.required('must specify a handler type');
}

const counters = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function probe(value: unknown, graceSeconds: number, field: Field): void {
  handler(value, graceSeconds, field);
  for (const counter of counters) nonNegative(at(value, counter), field.child(counter));
  const grace = at(value, 'terminationGracePeriodSeconds');
  if (typeof grace === 'number' && grace <= 0) {
    field.child('terminationGracePeriodSeconds').invalid(grace, 'must be greater than 0');
  }
}

/** The probes and hooks of a container that runs beside others. */
export function probes(container: unknown, graceSeconds: number, field: Field): void {
  const lifecycle = at(container, 'lifecycle');
  for (const hook of ['postStart', 'preStop']) {
    if (isSet(lifecycle, hook)) handler(at(lifecycle, hook), graceSeconds, field.child('lifecycle', hook));
  }
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const value = at(container, name);
    if (!isRecord(value)) continue;
    const path = field.child(name);
    probe(value, graceSeconds, path);
    if (name === 'readinessProbe') {
      const grace = record(value)['terminationGracePeriodSeconds'];
      if (grace !== undefined) {
        path.child('terminationGracePeriodSeconds').invalid(grace, 'must not be set for readinessProbes');
      }
    } else if (value['successThreshold'] !== 1) {
      path.child('successThreshold').invalid(value['successThreshold'] ?? 0, 'must be 1');
    }
  }
}
