/** The names that a definition asks for, or that were accepted. */
export interface DefinitionNames {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

/** What others of the group have: names in URLs and on command lines, and kinds. */
export interface UsedNames {
  resources: ReadonlySet<string>;
  kinds: ReadonlySet<string>;
}

/** Why not all names are accepted. */
export interface NamesConflict {
  reason: string;
  message: string;
}

/**
 * Those of the names asked for that are free, the ones accepted before elsewhere; of several conflicts the last is told.
 * https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/#CustomResourceDefinitionStatus
 */
export function acceptNames(
  asked: DefinitionNames,
  before: Partial<DefinitionNames>,
  used: UsedNames,
): { names: DefinitionNames; conflict?: NamesConflict } {
  let conflict: NamesConflict | undefined;
  const names: DefinitionNames = { plural: '', kind: '', ...before };
  const one = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    taken: ReadonlySet<string>,
    what: string,
  ) => {
    const name = asked[field] ?? '';
    if (name !== (before[field] ?? '') && taken.has(name)) conflict = inUse(what, [name]);
    else if (name !== '') names[field] = name;
    else if (field !== 'plural' && field !== 'kind') delete names[field];
  };
  one('plural', used.resources, 'Plural');
  one('singular', used.resources, 'Singular');
  const own = new Set(before.shortNames);
  const clashing = (asked.shortNames ?? []).filter((name) => !own.has(name) && used.resources.has(name));
  if (clashing.length > 0) conflict = inUse('ShortNames', clashing);
  else if (asked.shortNames) names.shortNames = asked.shortNames;
  else delete names.shortNames;
  one('kind', used.kinds, 'Kind');
  one('listKind', used.kinds, 'ListKind');
  if (asked.categories) names.categories = asked.categories;
  else delete names.categories;
  return { names, ...(conflict && { conflict }) };
}

function inUse(what: string, names: readonly string[]): NamesConflict {
  const problems = [...new Set(names)].map((name) => `${JSON.stringify(name)} is already in use`);
  const message = problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`;
  return { reason: `${what}Conflict`, message };
}
