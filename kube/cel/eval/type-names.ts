import type { Step } from './step.ts';
import { TypeName } from './values.ts';

const types = new Set(
  'bool bytes double duration int list map null_type string timestamp type uint net.IP net.CIDR google.protobuf.Timestamp google.protobuf.Duration'.split(
    ' ',
  ),
);
const typeAliases: Readonly<Record<string, string>> = {
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

/** A type as a value; undefined for what names none. */
export function typeStep(name: string): Step | undefined {
  if (!types.has(name)) return undefined;
  const type = new TypeName(typeAliases[name] ?? name);
  return () => type;
}
