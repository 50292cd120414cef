import type { ASTNode, Environment } from '@marcbachmann/cel-js';

const loops = new Set([
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
  'existsOne',
  'transformList',
  'transformMap',
]);

export interface Survey {
  depth: number;
  names: Set<string>;
  /** Where the names of calls of `matches` start, at the earliest. */
  matches: number[];
  /** Calls of `has` about a member of something else than a variable or its members. */
  members: Member[];
}

/** `has(of.field)` at start to end. */
interface Member {
  start: number;
  end: number;
  of: { start: number; end: number };
  field: string;
}

export function survey(ast: ASTNode): Survey {
  const found: Survey = { depth: 0, names: new Set(), matches: [], members: [] };
  walk(ast, 0, found);
  return found;
}

function walk(node: unknown, depth: number, found: Survey): void {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, depth, found);
    return;
  }
  if (!isNode(node)) return;
  let below = depth;
  if (node.op === 'id') found.names.add(node.args);
  if (node.op === 'rcall') {
    const [name, receiver] = node.args;
    if (loops.has(name)) below++;
    if (name === 'matches') found.matches.push(receiver.range.end);
  }
  if (node.op === 'call' && node.args[0] === 'has') noteMember(node, node.args[1], found);
  found.depth = Math.max(found.depth, below);
  walk(node.args, below, found);
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

function noteMember(call: ASTNode, [about]: readonly ASTNode[], found: Survey): void {
  if (about?.op !== '.') return;
  const [of, field] = about.args;
  let root: ASTNode = of;
  while (root.op === '.' || root.op === '.?') root = root.args[0];
  if (root.op === 'id') return;
  const { start, end } = call.range;
  found.members.push({ start, end, of: of.range, field });
}

/** `matches` must not be JavaScript's, and `has` must take any operand: the library's takes members of variables only. */
export function rewritten(env: Environment, expression: string): string {
  const { matches } = survey(env.parse(expression).ast);
  let text = expression;
  for (const start of matches.sort((a, b) => b - a)) {
    const at = text.indexOf('matches', start);
    text = `${text.slice(0, at)}matchesRe2${text.slice(at + 'matches'.length)}`;
  }
  // One at a time, the last first: none within it is left to move.
  for (;;) {
    const last = survey(env.parse(text).ast)
      .members.sort((a, b) => a.start - b.start)
      .at(-1);
    if (last === undefined) return text;
    const operand = text.slice(last.of.start, last.of.end);
    const has = `cel.bind(operand_, ${operand}, has(operand_.${last.field}))`;
    text = text.slice(0, last.start) + has + text.slice(last.end);
  }
}
