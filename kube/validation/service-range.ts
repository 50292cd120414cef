import { sameJson } from '../deep.ts';
import { given } from '../defaults/empty.ts';
import { validatePathSegmentName } from '../names.ts';
import { isRecord, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { internal } from './internal.ts';
import { canonicalCidr, parseRange } from './ip.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { dns1123Subdomain, immutable } from './rules.ts';

/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/ip-address-v1/ */
const ipAddress: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec', 'parentRef');
  const parent = spec['parentRef'];
  if (isRecord(parent)) {
    const group = text(parent['group']);
    if (group) dns1123Subdomain(group, field.child('group'));
    for (const name of ['resource', 'name', 'namespace']) {
      const value = text(parent[name]);
      if (value) field.child(name).invalidAll(value, validatePathSegmentName(value));
      else if (name !== 'namespace') field.child(name).required();
    }
  } else field.required();
  if (oldSpec && !sameJson(parent, oldSpec['parentRef']))
    field.invalid(isRecord(parent) ? internal(parent, 'networking.ParentReference') : null, immutable);
};

function ranges(list: readonly string[], field: Field): void {
  if (list.length === 0) {
    field.required('at least one CIDR required');
    return;
  }
  if (list.length > 2) {
    field.invalid({ CIDRs: list }, 'may only hold up to 2 values');
    return;
  }
  for (const [index, range] of list.entries()) canonicalCidr(range, field.index(index));
  const [first, second] = list.map((range) => parseRange(range)?.width);
  if (first === undefined || first !== second) return;
  const rule = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  field.invalid(list, rule);
}

/** A second range may be added to one, and nothing else changed. https://kubernetes.io/docs/reference/networking/virtual-ips/#ip-address-objects */
const serviceCidr: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec', 'cidrs');
  const list = strings(spec['cidrs']);
  if (!oldSpec) {
    ranges(list, field);
    return;
  }
  const before = strings(oldSpec['cidrs']);
  const grows = before.length === 1 && list.length === 2;
  if (list.length !== before.length && !grows) {
    field.invalid(given(spec, 'cidrs'), immutable);
    return;
  }
  for (const [index, range] of before.entries())
    if (range !== list[index]) field.index(index).invalid(list[index] ?? '', immutable);
  if (grows) ranges(list, field);
};

export const serviceRangeChecks: KindChecks = {
  'networking.k8s.io/IPAddress': ipAddress,
  'networking.k8s.io/ServiceCIDR': serviceCidr,
};
