import { sameJson } from '../../deep.ts';
import { validateQualifiedName } from '../../names.ts';
import { at, record, records } from '../../untyped.ts';
import { internal } from '../internal.ts';
import type { KindCheck, KindChecks } from '../kind.ts';
import { templateMetadata } from '../meta.ts';
import { immutable } from '../rules.ts';
import { claimSpec, configuration, selectors } from './claim.ts';
import { items } from './shared.ts';
import { resourceSlice } from './slice.ts';

const mostConfig = 32;

function isExtendedResource(name: string): boolean {
  const native = !name.includes('/') || name.split('/')[0]?.endsWith('kubernetes.io') === true;
  if (native || name.startsWith('requests.')) return false;
  return validateQualifiedName(`requests.${name}`).length === 0;
}

/** https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/device-class-v1/ */
const deviceClass: KindCheck = ({ spec }, root) => {
  const field = root.child('spec');
  selectors(spec['selectors'], field.child('selectors'));
  items(records(spec['config']), mostConfig, field.child('config'), configuration);
  const name = spec['extendedResourceName'];
  if (typeof name === 'string' && !isExtendedResource(name))
    field.child('extendedResourceName').invalid(name, 'must be a valid extended resource name');
};

const claim: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec');
  if (!oldSpec) claimSpec(spec, field);
  else if (!sameJson(spec, oldSpec)) field.invalid(internal(spec, 'resource.ResourceClaimSpec'), immutable);
};

const claimTemplate: KindCheck = ({ object, spec, oldSpec }, root) => {
  const field = root.child('spec');
  templateMetadata(at(object, 'spec', 'metadata'), field.child('metadata'));
  claimSpec(record(spec['spec']), field.child('spec'));
  if (oldSpec && !sameJson(spec, oldSpec))
    field.invalid(internal(spec, 'resource.ResourceClaimTemplateSpec'), immutable);
};

export const draChecks: KindChecks = {
  'resource.k8s.io/DeviceClass': deviceClass,
  'resource.k8s.io/ResourceClaim': claim,
  'resource.k8s.io/ResourceClaimTemplate': claimTemplate,
  'resource.k8s.io/ResourceSlice': resourceSlice,
};
