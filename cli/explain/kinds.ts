import { type PlacedKind, placedKind, placedKinds, ruledKind } from '../../cluster/kinds.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';
import { UsageError } from '../errors.ts';

const builtin = new Set(builtinResources.map(({ group }) => group));

export interface Named {
  /** Of a custom resource without its version. */
  kind: PlacedKind;
  name: string;
}

/**
 * KIND/NAME or KIND NAME, the kind as kubectl takes it: deploy, deployment, Deployment, deployments.apps. Of a kind that is not
 * built in, what was written is its resource: which one is meant, its Placement tells. Throws UsageError.
 */
export function parseNamed(words: readonly string[]): Named {
  const [word = '', name = '', ...more] = words.length === 1 ? (words[0] ?? '').split('/') : words;
  if (word === '' || name === '' || name.includes('/') || more.length > 0)
    throw new UsageError(`"${words.join(' ')}": expected KIND/NAME, such as deployment/web`);
  const kind = kindCalled(word);
  if (kind) return { kind, name };
  const [called = '', ...rest] = word.toLowerCase().split('.');
  const group = rest.join('.');
  const isBuiltin =
    (group !== '' && builtin.has(group)) || (rest.length < 2 && builtinCalled(called) !== undefined);
  if (!isBuiltin) return { kind: ruledKind({ group, version: '', resource: called }, {}), name };
  const known = placedKinds.map(({ resource }) => resource).join(', ');
  throw new UsageError(`"${word}" is no kind that is placed; these are: ${known}`);
}

function kindCalled(word: string): PlacedKind | undefined {
  const [called = '', ...rest] = word.toLowerCase().split('.');
  const group = rest.join('.');
  const found = builtinCalled(called, (info) => (group === '' || group === info.group) && !!placedKind(info));
  return found && placedKind(found);
}

type Builtin = (typeof builtinResources)[number];

function builtinCalled(word: string, is: (info: Builtin) => boolean = () => true): Builtin | undefined {
  return builtinResources.find((info) => {
    const names = [info.resource, info.singular, info.kind.toLowerCase(), ...info.shortNames];
    return names.includes(word) && is(info);
  });
}
