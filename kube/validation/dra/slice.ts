import { sameJson } from '../../deep.ts';
import { given } from '../../defaults/empty.ts';
import { int, isRecord, record, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { internal } from '../internal.ts';
import type { KindCheck } from '../kind.ts';
import { nodeSelector } from '../pod/affinity.ts';
import { driverName } from '../pod/volume.ts';
import { immutable } from '../rules.ts';
import { counterSetName, counters } from './counters.ts';
import { device } from './device.ts';
import { keyed, nodeName, poolName } from './shared.ts';

const mostDevices = 128;
const mostAdvancedDevices = 64;
const mostCounterSets = 8;

const places = '`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`';

function placed(spec: Record<string, unknown>, field: Field): void {
  const found: string[] = [];
  const name = spec['nodeName'];
  if (name === '') field.child('nodeName').invalid(name, 'must be either unset or set to a non-empty string');
  else if (typeof name === 'string') {
    found.push('`nodeName`');
    nodeName(name, field.child('nodeName'));
  }
  const selector = spec['nodeSelector'];
  if (isRecord(selector)) {
    found.push('`nodeSelector`');
    nodeSelector(selector, field.child('nodeSelector'));
    const terms = records(selector['nodeSelectorTerms']);
    if (terms.length !== 1) {
      const path = field.child('nodeSelector', 'nodeSelectorTerms');
      path.invalid(
        terms.length > 0 ? internal(terms, '[]core.NodeSelectorTerm') : given(selector, 'nodeSelectorTerms'),
        'must have exactly one node selector term',
      );
    }
  }
  for (const flag of ['allNodes', 'perDeviceNodeSelection']) {
    if (spec[flag] === true) found.push(`\`${flag}\``);
    else if (spec[flag] === false) field.child(flag).invalid(false, 'must be either unset or set to true');
  }
  const rule = `exactly one of ${places} is required`;
  if (found.length === 0) field.required(rule);
  if (found.length > 1) field.invalid(`{${found.join(', ')}}`, `${rule}, but multiple fields are set`);
}

/** https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/resource-slice-v1/ */
export const resourceSlice: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec');
  const pool = record(spec['pool']);
  driverName(text(spec['driver']), field.child('driver'));
  poolName(text(pool['name']), field.child('pool', 'name'));
  const [count, generation] = [int(pool['resourceSliceCount']), int(pool['generation'])];
  if (count <= 0) field.child('pool', 'resourceSliceCount').invalid(count, 'must be greater than zero');
  if (generation < 0)
    field.child('pool', 'generation').invalid(generation, 'must be greater than or equal to zero');
  if (oldSpec) {
    if (text(pool['name']) !== text(record(oldSpec['pool'])['name']))
      field.child('pool', 'name').invalid(text(pool['name']), immutable);
    if (text(spec['driver']) !== text(oldSpec['driver']))
      field.child('driver').invalid(text(spec['driver']), immutable);
    if (!sameJson(spec['nodeName'], oldSpec['nodeName']))
      field.child('nodeName').invalid(spec['nodeName'] ?? null, immutable);
  }
  placed(spec, field);
  if (spec['sharedCounters'] !== undefined && spec['devices'] !== undefined)
    field.invalid('', 'only one of `sharedCounters` or `devices` is allowed');
  const devices = records(spec['devices']);
  const advanced = devices.some(
    ({ taints, consumesCounters }) => records(taints).length + records(consumesCounters).length > 0,
  );
  const before = records(oldSpec?.['devices']);
  keyed(devices, advanced ? mostAdvancedDevices : mostDevices, field.child('devices'), {
    key: ({ name }) => text(name),
    check: (one, at) => {
      const old = before.find(({ name }) => name === one['name']);
      device(one, { old, perDevice: spec['perDeviceNodeSelection'] === true }, at);
    },
  });
  keyed(records(spec['sharedCounters']), mostCounterSets, field.child('sharedCounters'), {
    key: ({ name }) => text(name),
    check: (one, at) => {
      counterSetName(one['name'], at.child('name'));
      counters(one['counters'], at.child('counters'));
    },
  });
};
