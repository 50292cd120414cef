import { formatApiVersion, type GroupVersion } from '../gvk.ts';

/** What the names of definitions of the API's own machinery begin with. */
export const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
/** Media types of a built-in object. */
export const encodings = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** `/api/v1`, `/apis/apps/v1` */
export function rootOf(gv: GroupVersion): string {
  return `${gv.group === '' ? '/api' : '/apis'}/${formatApiVersion(gv)}`;
}

export function groupWords({ group, version }: GroupVersion): string[] {
  const name = group === '' ? 'core' : group.replace(/\.k8s\.io$/, '');
  return [...name.split(/[.-]/), version];
}

/** `core_v1`, `flowcontrolApiserver_v1` */
export function tagOf(gv: GroupVersion): string {
  const [first = '', ...rest] = groupWords(gv).slice(0, -1);
  return `${first}${upper(rest)}_${gv.version}`;
}

export function upper(words: readonly string[]): string {
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}
