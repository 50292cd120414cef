import type { Shares, Slices } from './plan.ts';

/** Where something is, and serves, that is to be elsewhere; where nothing leaves, all that it is on. */
export function givingOf(shares: Shares, clusters: readonly string[]): string[] {
  const names = Object.keys(shares).sort();
  const leaving = servingOf(shares).filter((c) => !clusters.includes(c));
  return leaving.length > 0 ? leaving : names.filter((c) => clusters.includes(c));
}

/** One that has not come, or is on its way out since an edit back, is nowhere to stay. */
export function servingOf(shares: Shares): string[] {
  const names = Object.keys(shares).sort();
  return names.filter((c) => shares[c]?.phase === 'Active' || shares[c]?.phase === 'Withdrawing');
}

export const applyFailed = 'ApplyFailed';

/** Why a cluster does not take it; undefined: it does, or has not been asked. */
export function failureWords(slices: Slices, cluster: string): string | undefined {
  const error = Object.hasOwn(slices, cluster) ? slices[cluster]?.error : undefined;
  return error && `${cluster}: ${error.reason}: ${error.message.slice(0, 512)}`;
}

/** So few that it need not be written anew for each of many that become ready. */
const mostNamed = 3;

export function few(names: readonly string[]): string {
  return [...names.slice(0, mostNamed), ...(names.length > mostNamed ? ['others'] : [])].join(', ');
}

/** Whoever has made it anew asks why that is nowhere. */
export function deletedWords(shares: Shares, renewed = false): string {
  if (!renewed) return 'the object is being deleted';
  const left = Object.keys(shares).sort();
  return `the object was deleted, and made anew: that is placed when what it was before has left ${few(left)}`;
}
