import type { KubeObject } from '../../../kube/object.ts';
import { record } from '../../../kube/untyped.ts';
import type { KindWrite } from './hooks.ts';

/**
 * Who asks for a certificate is who sends the request, whatever it says.
 * https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/
 */
export function nameRequester({ user }: KindWrite, object: KubeObject, old: KubeObject | undefined): void {
  if (old !== undefined || user === undefined) return;
  const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...asked } = record(object.spec);
  object.spec = {
    ...asked,
    username: user.name,
    ...(user.uid && { uid: user.uid }),
    ...(user.groups.length > 0 && { groups: [...user.groups] }),
    ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
  };
}
