import type { Client } from '../../../../client/client.ts';
import type { ShareView } from '../../../../cluster/types.ts';

const shares = { group: 'atoll.dev', version: 'v1alpha1', resource: 'shares' };

/** What is known of one cluster's shares: each spec, by name. */
export type State = Map<string, string>;

function put(state: State, { metadata, spec }: ShareView): void {
  state.set(metadata.name ?? '', JSON.stringify(spec));
}

export async function listed(west: Client): Promise<{ state: State; revision: string }> {
  const { items, metadata } = await west.list<ShareView>(shares);
  const state: State = new Map();
  for (const item of items) put(state, item);
  return { state, revision: metadata.resourceVersion ?? '' };
}

/** What is known of west by a list and what was told after it. */
export async function followed(west: Client, signal: AbortSignal): Promise<State> {
  const { state, revision } = await listed(west);
  follow(west, state, revision, signal);
  return state;
}

export function follow(west: Client, state: State, resourceVersion: string, signal: AbortSignal): void {
  void (async () => {
    for await (const { type, object } of west.watch<ShareView>(shares, { resourceVersion, signal })) {
      if (type === 'DELETED') state.delete(object.metadata.name ?? '');
      else if (type !== 'BOOKMARK') put(state, object);
    }
  })();
}

export const sorted = (state: State) => [...state].sort(([a], [b]) => (a < b ? -1 : 1));
