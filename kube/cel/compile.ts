import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { createEnvironment } from './environment.ts';
import { located, syntaxProblem, type Unreadable } from './syntax.ts';

/** Everything that an expression can name anywhere; each place declares some of it. */
const everywhere = [
  'object',
  'oldObject',
  'request',
  'params',
  'namespaceObject',
  'variables',
  'authorizer',
  'self',
  'oldSelf',
  'device',
];

/** Types, and what functions' names begin with. */
const always = new Set(
  (
    'bool bytes double duration dyn google int list map null_type optional string timestamp type uint ' +
    'base64 cel cidr format ip jsonpatch kubernetes lists math net semver sets strings Object JSONPatch'
  ).split(' '),
);

/** Functions of Kubernetes' libraries that are not run here, and so are not in the environment. */
const elsewhere = new Set(
  (
    'allowed check decision error errored errored fieldSelector group labelSelector name namespace path reason ' +
    'requestResource resource serviceAccount subresource semver isSemver major minor patch compareTo equivalent ' +
    'intersects ceil floor round trunc abs sign isNaN isInf isFinite bitAnd bitOr bitXor bitNot bitShiftLeft ' +
    'bitShiftRight greatest least sqrt sort sortBy distinct flatten slice reverse first last range encode decode ' +
    'quote named validate add sub isGreaterThan optMap optFlatMap transformList transformMap transformMapEntry ' +
    'existsOne exists_one escapeKey ip cidr masked containsCIDR isCanonical isGlobalUnicast isLinkLocalMulticast ' +
    'isLinkLocalUnicast includes getHours string unwrap unwrapOpt zero ofNonZeroValue dyn type ' +
    'dns1123Label dns1123Subdomain dns1035Label qualifiedName dns1123LabelPrefix dns1123SubdomainPrefix ' +
    'dns1035LabelPrefix labelValue uri uuid byte date datetime'
  ).split(' '),
);

let environment: Environment | undefined;
let functions: Set<string> | undefined;

/** An expression as far as it can be judged without running it. */
export interface Judgement {
  /** What is wrong, as kube-apiserver tells it after `compilation failed: `. */
  problem?: string;
  /** Of what it evaluates to, in CEL's words; absent where that is not known here. */
  type?: string;
  /** The variables that it names; absent when it cannot be read. */
  names?: ReadonlySet<string>;
}

const judged = new Map<string, Judgement>();
const mostJudged = 1000;

/**
 * Judges an expression in which `variables` are declared, in the words of the reference implementation. What needs
 * libraries or types that are not here passes. `composed` are the fields of `variables`. https://kubernetes.io/docs/reference/using-api/cel/
 */
export function judge(
  expression: string,
  variables: readonly string[],
  composed: readonly string[] = [],
): Judgement {
  const key = `${variables.join()} ${composed.join()}\n${expression}`;
  const known = judged.get(key);
  if (known) return known;
  if (judged.size >= mostJudged) judged.clear();
  const made = judgeAnew(expression, variables, composed);
  judged.set(key, made);
  return made;
}

function judgeAnew(expression: string, variables: readonly string[], composed: readonly string[]): Judgement {
  environment ??= createEnvironment(everywhere);
  functions ??= new Set(environment.getDefinitions().functions.map(({ name }) => name));
  let parsed: ReturnType<Environment['parse']>;
  try {
    parsed = environment.parse(expression);
  } catch (error) {
    return unreadable(expression, error);
  }
  const found: Undeclared[] = [];
  collect(parsed.ast, new Set(variables), found);
  const names = new Set<string>();
  named(parsed.ast, names);
  if (names.has('variables') && variables.includes('variables'))
    collectFields(parsed.ast, new Set(composed), found);
  if (found.length > 0) return { problem: found.map((one) => undeclared(expression, one)).join('\n'), names };
  const { valid, type, error } = parsed.check();
  if (valid) return { names, ...(type !== undefined && { type: typeName(type) }) };
  const problem = error && mismatch(expression, parsed.ast, error);
  return { names, ...(problem !== undefined && { problem }) };
}

function named(node: unknown, names: Set<string>): void {
  if (Array.isArray(node)) for (const item of node) named(item, names);
  else if (isNode(node)) {
    if (node.op === 'id') names.add(node.args);
    named(node.args, names);
  }
}

function typeName(type: string): string {
  return type.replaceAll('<', '(').replaceAll('>', ')');
}

/** Messages that make a value of a type are not read here. */
function unreadable(expression: string, error: unknown): Judgement {
  const { summary, range } = error as Partial<Unreadable> & { range?: { start: number; end: number } };
  if (summary === undefined || range === undefined || /[\w.]\s*\{/.test(expression)) return {};
  return { problem: syntaxProblem(expression, { summary, start: range.start, end: range.end }) };
}

interface Undeclared {
  name: string;
  at: number;
  isField?: true;
}

function undeclared(expression: string, { name, at, isField }: Undeclared): string {
  const what = isField ? `undefined field '${name}'` : `undeclared reference to '${name}' (in container '')`;
  return located(expression, at, what);
}

/** `variables.name` for which a policy has no variable. */
function collectFields(node: unknown, composed: ReadonlySet<string>, found: Undeclared[]): void {
  if (Array.isArray(node)) for (const item of node) collectFields(item, composed, found);
  if (!isNode(node)) return;
  if (node.op === '.' && node.args[0].op === 'id' && node.args[0].args === 'variables') {
    const at = node.input.indexOf('.', node.args[0].range.end);
    if (!composed.has(node.args[1])) found.push({ name: node.args[1], at, isField: true });
  }
  collectFields(node.args, composed, found);
}

const loops = new Set(
  'all exists exists_one existsOne map filter transformList transformMap transformMapEntry sortBy optMap optFlatMap bind'.split(
    ' ',
  ),
);

function collect(node: unknown, names: ReadonlySet<string>, found: Undeclared[]): void {
  if (Array.isArray(node)) {
    for (const item of node) collect(item, names, found);
    return;
  }
  if (!isNode(node)) return;
  if (node.op === 'id') {
    if (!names.has(node.args) && !always.has(node.args)) found.push({ name: node.args, at: node.start });
    return;
  }
  if (node.op === 'call' || node.op === 'rcall') {
    collectCall(node, names, found);
    return;
  }
  collect(node.args, names, found);
}

type Call = Extract<ASTNode, { op: 'call' | 'rcall' }>;

function collectCall(node: Call, names: ReadonlySet<string>, found: Undeclared[]): void {
  const name = node.args[0];
  const [receiver, args] = node.op === 'call' ? [undefined, node.args[1]] : [node.args[1], node.args[2]];
  if (receiver) collect(receiver, names, found);
  if (node.op === 'rcall' && loops.has(name)) {
    const last = args.at(-1);
    const bound = args.filter((arg) => arg !== last && arg.op === 'id').map((arg) => String(arg.args));
    const inner = new Set([...names, ...bound]);
    const outside = name === 'bind' ? args.slice(1, -1) : [];
    collect(outside, names, found);
    collect(
      name === 'bind' ? last : args.filter((arg) => arg.op !== 'id' || !bound.includes(arg.args)),
      inner,
      found,
    );
    return;
  }
  if (!functions?.has(name) && !elsewhere.has(name)) {
    const from = receiver ? receiver.range.end : node.start;
    found.push({ name, at: Math.max(node.input.indexOf('(', node.input.indexOf(name, from)), 0) });
  }
  collect(args, names, found);
}

const operators: Readonly<Record<string, string>> = { in: '@in' };

/** Two operands that do not go together; of other mismatches the libraries here do not know enough. */
function mismatch(expression: string, ast: ASTNode, error: { message: string }): string | undefined {
  const found = /^no such overload: (\S+) (\S+) (\S+)/.exec(error.message.split('\n')[0] ?? '');
  const { range } = error as { range?: { start: number; end: number } };
  const node = found && range && nodeAt(ast, range, found[2] ?? '');
  if (!found || !node || !Array.isArray(node.args)) return undefined;
  const [, left, operator = '', right] = found;
  const [first] = node.args as ASTNode[];
  if (!first) return undefined;
  const name = operators[operator] ?? `_${operator}_`;
  const message = `found no matching overload for '${name}' applied to '(${typeName(left ?? '')}, ${typeName(right ?? '')})'`;
  return located(expression, expression.indexOf(operator, first.range.end), message);
}

function nodeAt(node: unknown, range: { start: number; end: number }, op: string): ASTNode | undefined {
  if (Array.isArray(node)) {
    for (const item of node) {
      const found = nodeAt(item, range, op);
      if (found) return found;
    }
    return undefined;
  }
  if (!isNode(node)) return undefined;
  if (node.op === op && node.start === range.start && node.end === range.end) return node;
  return nodeAt(node.args, range, op);
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
