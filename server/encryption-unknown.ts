import { ownResources } from '../cluster/resources.ts';
import { parseGroupResource } from '../kube/encryption/resources.ts';
import type { EncryptionConfiguration } from '../kube/encryption/types.ts';
import { builtinResources } from '../kube/schema/builtin.ts';

/**
 * What names no kind of a group all of whose kinds are known, `secret` where `secrets` was meant: nothing is encrypted by
 * it, and kube-apiserver takes it as well. Of other groups somebody may define kinds.
 */
export function unknownResources({ resources }: EncryptionConfiguration): string[] {
  const all = [...builtinResources, ...ownResources.map(({ info }) => info)];
  return resources
    .flatMap((rule) => rule.resources)
    .filter((text) => {
      const { group, resource } = parseGroupResource(text);
      const ofGroup = all.filter((kind) => kind.group === group);
      return resource !== '*' && ofGroup.length > 0 && !ofGroup.some((kind) => kind.resource === resource);
    });
}
