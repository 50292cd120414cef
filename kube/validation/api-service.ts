import { validateDns1035Label, validateDns1123Subdomain } from '../names.ts';
import { int, isRecord, text } from '../untyped.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { inclusiveRange } from './rules.ts';

const apiService: KindCheck = ({ spec }, root) => {
  const field = root.child('spec');
  const group = text(spec['group']);
  const version = text(spec['version']);
  if (!group && version !== 'v1') {
    field.child('group').required('only v1 may have an empty group and it better be legacy kube');
  }
  if (group) field.child('group').invalidAll(group, validateDns1123Subdomain(group));
  field.child('version').invalidAll(version, validateDns1035Label(version));
  const priority = (field_: string, most: number) => {
    const value = int(spec[field_]);
    if (value <= 0 || value > most)
      field.child(field_).invalid(value, `must be positive and less than ${most}`);
  };
  priority('groupPriorityMinimum', 20_000);
  priority('versionPriority', 1000);
  const target = spec['service'];
  const insecure = spec['insecureSkipTLSVerify'] === true;
  if (!isRecord(target)) {
    const rule = 'local APIServices may not have insecureSkipTLSVerify';
    if (insecure) field.child('insecureSkipTLSVerify').invalid(true, rule);
    return;
  }
  for (const part of ['namespace', 'name']) if (!text(target[part])) field.child('service', part).required();
  const port = int(target['port']);
  if (port < 1 || port > 65_535) {
    field.child('service', 'port').invalid(port, `port is not valid: ${inclusiveRange(1, 65_535)}`);
  }
  if (insecure && text(spec['caBundle'])) {
    field.child('insecureSkipTLSVerify').invalid(true, 'may not be true if caBundle is present');
  }
};

export const apiServiceChecks: KindChecks = {
  'apiregistration.k8s.io/APIService': apiService,
};
