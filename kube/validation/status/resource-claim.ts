import { sameJson } from '../../deep.ts';
import { allocatedTo, deviceId } from '../../devices.ts';
import type { JsonObject } from '../../object.ts';
import { isRecord, record, records, text } from '../../untyped.ts';
import { configuration, reference, references, requestNames } from '../dra/claim.ts';
import { bindingConditions } from '../dra/device.ts';
import { items, keyed, opaque, poolName } from '../dra/shared.ts';
import type { Field } from '../field.ts';
import { parseRange } from '../ip.ts';
import type { SubresourceCheck } from '../kind.ts';
import { nodeSelector } from '../pod/affinity.ts';
import { driverName } from '../pod/volume.ts';
import { dns1123Label } from '../rules.ts';
import { type ShownShape, shownAs } from '../shown.ts';
import { conditions } from './conditions.ts';

const most = { consumers: 256, results: 32, config: 64, conditions: 8, addresses: 16 };
const mostBytes = { data: 10 * 1024, interfaceName: 256, hardwareAddress: 128 };

/** Who gives devices to a claim, who uses it, and what drivers tell. https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/#ResourceClaimStatus */
const claim: SubresourceCheck = (object, old, root) => {
  const [status, before] = [record(object.status), record(old?.status)];
  const field = root.child('status');
  const { allocation } = status;
  reservations(status, before, object.metadata.deletionTimestamp !== undefined, field.child('reservedFor'));
  const allocated = new Set(allocatedTo(object).map(deviceId));
  keyed(records(status['devices']), -1, field.child('devices'), {
    key: deviceId,
    shown: shownId,
    check: (one, at) => device(one, allocated, at),
  });
  if (!isRecord(allocation)) return;
  const path = field.child('allocation');
  if (!isRecord(before['allocation'])) allocations(allocation, record(object.spec), path);
  else if (!sameJson(allocation, before['allocation']))
    path.invalid(shownAllocation(allocation), 'field is immutable');
};

function reservations(status: JsonObject, before: JsonObject, isGoing: boolean, field: Field): void {
  const list = records(status['reservedFor']);
  keyed(list, most.consumers, field, {
    key: ({ uid }) => text(uid),
    check: (one, at) => {
      for (const name of ['resource', 'name', 'uid']) if (!text(one[name])) at.child(name).required();
    },
  });
  if (list.length === 0) return;
  if (!isRecord(status['allocation'])) field.forbidden('may not be specified when `allocated` is not set');
  else if (isGoing) {
    const known = records(before['reservedFor']);
    if (list.some((one) => !known.some((other) => sameJson(one, other))))
      field.forbidden(
        'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
      );
  }
}

function allocations(allocation: JsonObject, spec: JsonObject, field: Field): void {
  const names = requestNames(record(spec['devices']));
  const [devices, path] = [record(allocation['devices']), field.child('devices')];
  items(records(devices['results']), most.results, path.child('results'), (one, at) => {
    reference(text(one['request']), names, at.child('request'));
    place(one, at);
    bindingConditions(one, at);
  });
  items(records(devices['config']), most.config, path.child('config'), (one, at) => {
    const source = text(one['source']);
    const sources = ['FromClaim', 'FromClass'];
    if (!source) at.child('source').required();
    else if (!sources.includes(source)) at.child('source').notSupported(source, sources);
    references(one['requests'], names, at.child('requests'));
    configuration(one, at);
  });
  if (isRecord(allocation['nodeSelector']))
    nodeSelector(allocation['nodeSelector'], field.child('nodeSelector'));
}

function place(one: JsonObject, field: Field): void {
  driverName(text(one['driver']), field.child('driver'));
  poolName(text(one['pool']), field.child('pool'));
  dns1123Label(text(one['device']), field.child('device'));
  if (typeof one['shareID'] === 'string') uuid(one['shareID'], field.child('shareID'));
}

function uuid(value: string, field: Field): void {
  if (value.length !== 36) field.invalid(value, `error validating uid: invalid UUID length: ${value.length}`);
  else if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value))
    field.invalid(value, 'error validating uid: invalid UUID format');
  else if (value !== value.toLowerCase())
    field.invalid(
      value,
      'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
    );
}

function device(one: JsonObject, allocated: ReadonlySet<string>, field: Field): void {
  place(one, field);
  if (!allocated.has(deviceId(one))) field.invalid(shownId(one), 'must be an allocated device in the claim');
  const path = field.child('conditions');
  const list = records(one['conditions']);
  if (list.length > most.conditions) path.tooMany(list.length, most.conditions);
  conditions(one['conditions'], path);
  const { data } = one;
  if (data !== undefined && data !== null) opaque(data, mostBytes.data, field.child('data'));
  network(record(one['networkData']), field.child('networkData'));
}

function network(data: JsonObject, field: Field): void {
  for (const name of ['interfaceName', 'hardwareAddress'] as const)
    if (Buffer.byteLength(text(data[name])) > mostBytes[name]) field.child(name).tooLong(mostBytes[name]);
  const addresses = Array.isArray(data['ips']) ? data['ips'].map(text) : [];
  keyed(addresses, most.addresses, field.child('ips'), {
    key: (address) => address,
    check: (address, at) => {
      if (!parseRange(address))
        at.invalid(address, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)');
    },
  });
}

const idShape: ShownShape = [
  ['driver', 'Driver', ''],
  ['pool', 'Pool', ''],
  ['device', 'Device', ''],
  ['shareID', 'ShareID', ''],
];
const shownId = (one: JsonObject) => shownAs(one, idShape);

const resultShape: ShownShape = [
  ['request', 'Request', ''],
  ...idShape.slice(0, 3),
  ['adminAccess', 'AdminAccess', null],
  ['tolerations', 'Tolerations', null],
  ['bindingConditions', 'BindingConditions', null],
  ['bindingFailureConditions', 'BindingFailureConditions', null],
  ['shareID', 'ShareID', null],
  ['consumedCapacity', 'ConsumedCapacity', null],
];

function shownAllocation(allocation: JsonObject) {
  const devices = record(allocation['devices']);
  const results = Array.isArray(devices['results'])
    ? devices['results'].map((one) => shownAs(one, resultShape))
    : null;
  const { nodeSelector = null, allocationTimestamp = null } = allocation;
  return {
    Devices: { Results: results, Config: devices['config'] ?? null },
    NodeSelector: nodeSelector,
    AllocationTimestamp: allocationTimestamp,
  };
}

export const resourceClaimStatuses: Readonly<Record<string, SubresourceCheck>> = {
  'resource.k8s.io/ResourceClaim/status': claim,
};
