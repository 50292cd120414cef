import type { UserInfo } from '../../kube/http.ts';

/** In no header, certificate, token or JSON: whoever is not made here is not one of them, whatever they are called. */
const inside = Symbol('inside');

/** One of the server's own controllers. What it may do: apiserver/authz/own.ts. */
export function ownUser(name: string): UserInfo {
  return Object.assign({ name, groups: ['system:authenticated'] }, { [inside]: true });
}

/** One of the server's own controllers, from inside. */
export function isOwnController(user: UserInfo): boolean {
  return inside in user;
}

/** This one of them. A name alone says nothing: whoever may be given certificates of any name could take it. */
export function isOwn(user: UserInfo, name: string): boolean {
  return user.name === name && isOwnController(user);
}
