import type { UserInfo } from '../../kube/http.ts';
import type { RequestInfo } from '../request.ts';
import { quoted } from './quoted.ts';

/** What an event says of the object that a request is about. */
export class Reference {
  readonly #info: RequestInfo;
  #namespace: string;
  #name: string;
  #uid = '';
  #resourceVersion = '';
  #text = '';

  constructor(info: RequestInfo) {
    this.#info = info;
    this.#namespace = namespaceOf(info);
    this.#name = info.selected ?? info.name;
  }

  /** What the URL does not say, the object that was sent does. */
  add({ namespace, name, uid, resourceVersion }: Record<string, unknown>): void {
    this.#namespace ||= textOf(namespace);
    this.#name ||= textOf(name);
    this.#uid ||= textOf(uid);
    this.#resourceVersion ||= textOf(resourceVersion);
    this.#text = '';
  }

  get json(): string {
    if (this.#text !== '') return this.#text;
    const { group, version, resource, subresource } = this.#info;
    const more =
      (this.#uid && `,"uid":${quoted(this.#uid)}`) +
      (group && `,"apiGroup":${quoted(group)}`) +
      (version && `,"apiVersion":${quoted(version)}`) +
      (this.#resourceVersion && `,"resourceVersion":${quoted(this.#resourceVersion)}`) +
      (subresource && `,"subresource":${quoted(subresource)}`);
    const where =
      (this.#namespace && `,"namespace":${quoted(this.#namespace)}`) +
      (this.#name && `,"name":${quoted(this.#name)}`);
    this.#text = `{"resource":${quoted(resource)}${where}${more}}`;
    return this.#text;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** As `objectRef` of an event, before its name and after it; nothing is known of the object but what the URL says. */
export function referenceAround(info: RequestInfo): { before: string; after: string } {
  const { group, version, resource, subresource } = info;
  const namespace = namespaceOf(info);
  const before = `"objectRef":{"resource":${quoted(resource)}${namespace && `,"namespace":${quoted(namespace)}`}`;
  const more =
    (group && `,"apiGroup":${quoted(group)}`) +
    (version && `,"apiVersion":${quoted(version)}`) +
    (subresource && `,"subresource":${quoted(subresource)}`);
  return { before, after: `${more}},` };
}

/** A Namespace is in itself, as Kubernetes reads URLs. */
export function namespaceOf({ group, resource, namespace, name }: RequestInfo): string {
  return namespace === '' && group === '' && resource === 'namespaces' ? name : namespace;
}

export function userJson({ name, uid, groups, extra }: UserInfo): string {
  return JSON.stringify({
    username: name,
    ...(uid && { uid }),
    groups,
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  });
}
