import type { Declarations } from './environment.ts';
import { type SchemaType, sizeIn } from './schema-type.ts';
import { any, bool, type CelType, mapOf, string, struct } from './types.ts';

/** Of attributes and capacities of a device, and characters of their domains, names and values. */
const most = { entries: 32, domain: 63, id: 32, value: 64, driver: 63 };

const sized = (type: CelType, characters: number): SchemaType => ({ type, most: characters, leastBytes: 0 });

/** By domain, then by name. */
function inDomains(value: SchemaType): SchemaType {
  const named: SchemaType = {
    ...sized(mapOf(string, value.type), most.entries),
    values: value,
    keys: sized(string, most.id),
  };
  return {
    ...sized(mapOf(string, named.type), most.entries),
    values: named,
    keys: sized(string, most.domain),
  };
}

const device: SchemaType = {
  ...sized(struct('kubernetes.DRADevice'), 0),
  fields: new Map([
    ['driver', sized(string, most.driver)],
    ['allowMultipleAllocations', sized(bool, 1)],
    ['attributes', inDomains(sized(any, most.value))],
    ['capacity', inDomains(sized(struct('kubernetes.Quantity'), 0))],
  ]),
};

/** What a selector of devices can name. https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/ */
export const deviceDeclarations: Declarations = {
  variables: new Map([['device', device.type]]),
  fields: (message) => (message === device.type.name ? (name) => device.fields?.get(name)?.type : undefined),
  bindings: true,
};

const sizes = sizeIn(device);

export function deviceSize(path: readonly string[]): { min: number; max: number } | undefined {
  return path[0] === 'device' ? sizes(path) : undefined;
}
