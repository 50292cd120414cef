import { sameJson } from '../deep.ts';
import { at, records, text } from '../untyped.ts';
import { definitionStatus } from './crd/names.ts';
import type { SubresourceCheck } from './kind.ts';
import { standardFinalizers } from './meta.ts';
import { podAsItIs } from './pod/index.ts';
import { resize } from './pod/resize.ts';
import { quotaStatus } from './quota.ts';
import { qualifiedName } from './rules.ts';
import { signingRequestSubresources } from './signing-request.ts';

/** https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/ */
const ephemeralContainers: SubresourceCheck = (object, old, root) => {
  podAsItIs(object, root);
  const field = root.child('spec', 'ephemeralContainers');
  const now = records(at(object, 'spec', 'ephemeralContainers'));
  for (const before of records(at(old, 'spec', 'ephemeralContainers'))) {
    const name = JSON.stringify(text(before['name']));
    const same = now.find((container) => container['name'] === before['name']);
    if (same === undefined) field.forbidden(`existing ephemeral containers ${name} may not be removed\n`);
    else if (!sameJson(same, before)) {
      field.forbidden(`existing ephemeral containers ${name} may not be changed\n`);
    }
  }
};

/** A Namespace is either there or on its way out. */
const namespacePhase: SubresourceCheck = (object, _old, root) => {
  const phase = text(at(object, 'status', 'phase'));
  const goes = object.metadata.deletionTimestamp !== undefined;
  const only = goes ? 'Terminating' : 'Active';
  if (phase === only) return;
  const when = goes ? 'is not empty' : 'is empty';
  root.child('status', 'Phase').invalid(phase, `may only be '${only}' if \`deletionTimestamp\` ${when}`);
};

const namespaceFinalizers: SubresourceCheck = (object, _old, root) => {
  const names = at(object, 'spec', 'finalizers');
  if (!Array.isArray(names)) return;
  const field = root.child('spec', 'finalizers');
  for (const [index, name] of names.entries()) qualifiedName(text(name), field.index(index));
  standardFinalizers(names.map(text), field);
};

export const subresourceChecks: Readonly<Record<string, SubresourceCheck>> = {
  ...signingRequestSubresources,
  'apiextensions.k8s.io/CustomResourceDefinition/status': definitionStatus,
  '/Namespace/finalize': namespaceFinalizers,
  '/Namespace/status': namespacePhase,
  '/Pod/ephemeralcontainers': ephemeralContainers,
  '/Pod/resize': resize,
  '/ResourceQuota/status': quotaStatus,
};
