import { eachKey } from '../../kube/json.ts';

/** Keys that a body has twice, and what it takes to tell of them as kube-apiserver does. */
export interface Duplicates {
  /** Of JSON. */
  readonly paths: readonly string[];
  /** Of JSON that a Go struct is read from: the body. */
  readonly text?: string;
  /** Of YAML: what its reader said. */
  readonly lines?: readonly string[];
  /** Of a JSON patch: what its operations have twice, and what nobody knows of them. */
  readonly patch?: readonly string[];
}

export const noDuplicates: Duplicates = { paths: [] };

const limit = 100;

/**
 * All that strict decoding finds, in kube-apiserver's order: duplicates of YAML and of a custom resource are told
 * before fields that nobody knows, those of a built-in kind where they are.
 * @param unknown as `unknown field "spec.foo"`
 * @param isStruct whether the kind is built in
 */
export function problemsOf(duplicates: Duplicates, unknown: readonly string[], isStruct: boolean): string[] {
  const { paths, text, lines = [], patch } = duplicates;
  if (patch !== undefined) return [...patch, ...unknown];
  if (lines.length > 0) return [...lines, ...unknown];
  if (paths.length === 0) return [...unknown];
  if (isStruct && text !== undefined) return inOrder(text, unknown);
  return [...paths.map(duplicate), ...unknown];
}

/** What is wrong with the operations of a JSON patch, which is `body`, in their order. */
export function inOperations(
  body: Uint8Array,
  paths: readonly string[],
  unknown: readonly string[],
): Duplicates {
  if (paths.length + unknown.length === 0) return noDuplicates;
  const found = inOrder(Buffer.from(body).toString(), unknown);
  return { paths: [], patch: found.map((problem) => `json patch ${problem}`) };
}

export function isClean({ paths, patch = [] }: Duplicates): boolean {
  return paths.length === 0 && patch.length === 0;
}

/** The one error that they make: YAML's come as one. */
export function joinedProblems(duplicates: Duplicates, problems: readonly string[]): string[] {
  const { lines = [] } = duplicates;
  return lines.length === 0 ? [...problems] : [unmarshalErrors(lines), ...problems.slice(lines.length)];
}

export function unmarshalErrors(lines: readonly string[]): string {
  return `yaml: unmarshal errors:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

const duplicate = (path: string): string => `duplicate field ${JSON.stringify(path)}`;

/** What is below a field that nobody knows is not looked at. A body may repeat one key a hundred thousand times. */
function inOrder(text: string, unknown: readonly string[]): string[] {
  const nobodyKnows = new Map(unknown.map((problem) => [pathIn(problem), problem]));
  const told = new Map<string, string>();
  let skipped: string | undefined;
  eachKey(text, (path, isRepeated) => {
    if (told.size >= limit) return;
    if (skipped !== undefined && (path.startsWith(`${skipped}.`) || path.startsWith(`${skipped}[`))) return;
    skipped = nobodyKnows.has(path) ? path : undefined;
    if ((skipped === undefined && !isRepeated) || told.has(path)) return;
    told.set(path, nobodyKnows.get(path) ?? duplicate(path));
  });
  // What has too long a path is told, too.
  return [...new Set([...told.values(), ...unknown])].slice(0, limit);
}

function pathIn(problem: string): string {
  return String(JSON.parse(problem.slice('unknown field '.length)));
}
