import { type PlacedKind, placedKind, placedKinds, ruledKind } from '../../cluster/kinds.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';
import { UsageError } from '../errors.ts';

const builtin = new Set(builtinResources.map(({ group }) => group));

export interface Named {
  /** Of a custom resource without its version. */
  kind: PlacedKind;
  name: string;
}

/** KIND/NAME or KIND NAME, the kind as kubectl takes it: deploy, deployment, Deployment, deployments.apps. Throws UsageError. */
export function parseNamed(words: readonly string[]): Named {
  const [word = '', name = '', ...more] = words.length === 1 ? (words[0] ?? '').split('/') : words;
  if (word === '' || name === '' || name.includes('/') || more.length > 0)
    throw new UsageError(`"${words.join(' ')}": expected KIND/NAME, such as deployment/web`);
  const kind = kindCalled(word);
  if (kind) return { kind, name };
  const [called = '', ...rest] = word.toLowerCase().split('.');
  const group = rest.join('.');
  // A custom resource: its Placement says by which rule it is placed, and in which version.
  if (rest.length > 1 && !builtin.has(group))
    return { kind: ruledKind({ group, version: '', resource: called }, {}), name };
  const known = placedKinds.map(({ resource }) => resource).join(', ');
  throw new UsageError(`"${word}" is no kind that is placed; these are: ${known}`);
}

function kindCalled(word: string): PlacedKind | undefined {
  const [called = '', ...rest] = word.toLowerCase().split('.');
  const group = rest.join('.');
  const found = builtinResources.find((info) => {
    const names = [info.resource, info.singular, info.kind.toLowerCase(), ...info.shortNames];
    return names.includes(called) && (group === '' || group === info.group) && placedKind(info) !== undefined;
  });
  return found && placedKind(found);
}
