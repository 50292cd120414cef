import { resolve } from 'node:path';
import ts from 'typescript';

/** An example's expression and what the comment beside or below it says of it. */
export interface Claim {
  /** Line in the page. */
  line: number;
  text: string;
}

export interface Example {
  /** All of a page's TypeScript, every line where it is in the page. */
  code: string;
  claims: Claim[];
  /** Runs it; `check` gets each claim, with its expression to evaluate. Relative imports are the page's. */
  run(load: Load, check: Check): Promise<void>;
}

export type Load = (path: string) => Promise<Record<string, unknown>>;
export type Check = (claim: Claim, evaluate: () => unknown) => void;

const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (load: Load, check: Check, claims: readonly Claim[]) => Promise<void>;

/** The fenced `ts` blocks of a page, one module: a later block knows the names of an earlier one. */
export function exampleOf(markdown: string): Example {
  let inside = false;
  const lines = markdown.split('\n').map((line) => {
    const fence = line.startsWith('```');
    if (fence) inside = !inside && line === '```ts';
    return inside && !fence ? line : '';
  });
  const code = lines.join('\n');
  const file = ts.createSourceFile('page.ts', code, ts.ScriptTarget.ESNext, true);
  const claims: Claim[] = [];
  const script = file.statements.map((statement) => rewritten(statement, file, claims)).join('\n');
  const { outputText } = ts.transpileModule(script, {
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext },
  });
  const body = outputText.replace(/^export \{\};$/m, '');
  const main = new AsyncFunction('load', 'check', 'claims', body);
  return { code, claims, run: (load, check) => main(load, check, claims) };
}

function rewritten(statement: ts.Statement, file: ts.SourceFile, claims: Claim[]): string {
  if (ts.isImportDeclaration(statement)) return loading(statement);
  if (!ts.isExpressionStatement(statement)) return statement.getText();
  const line = file.getLineAndCharacterOfPosition(statement.getStart()).line + 1;
  const text = commentAfter(file.text.slice(statement.getEnd()));
  if (text === undefined)
    throw new Error(`line ${line}: an expression without a comment that says its value`);
  claims.push({ line, text });
  return `check(claims[${claims.length - 1}], () => (${statement.expression.getText()}));`;
}

/** On the same line, or on the lines right below. */
function commentAfter(rest: string): string | undefined {
  const found = /^[ \t]*(?:\/\/.*|(?:\n[ \t]*\/\/.*)+)/.exec(rest)?.[0];
  return found
    ?.split('\n')
    .map((line) => line.replace(/^\s*\/\/ ?/, '').trim())
    .filter((line) => line !== '')
    .join(' ');
}

function loading({ importClause, moduleSpecifier }: ts.ImportDeclaration): string {
  const bindings = importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) throw new Error('examples import names');
  if (importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return '';
  const names = bindings.elements
    .filter((element) => !element.isTypeOnly)
    .map(({ name, propertyName }) => (propertyName ? `${propertyName.getText()}: ${name.text}` : name.text));
  return `const { ${names.join(', ')} } = await load(${moduleSpecifier.getText()});`;
}

/** What the compiler says of the examples, as if each page were a module beside the page. */
export function typeErrors(pages: ReadonlyMap<string, string>, root: string): string[] {
  const { config } = ts.readConfigFile(resolve(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const settings = { ...options, noEmit: true, incremental: false, noUnusedLocals: false };
  delete settings.tsBuildInfoFile;
  const host = ts.createCompilerHost(settings);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => pages.has(name) || fileExists(name);
  host.readFile = (name) => pages.get(name) ?? readFile(name);
  host.getSourceFile = (name, target, ...others) => {
    const code = pages.get(name);
    if (code === undefined) return getSourceFile(name, target, ...others);
    return ts.createSourceFile(name, `${code}\nexport {};`, target);
  };
  const program = ts.createProgram([...pages.keys()], settings, host);
  return [...pages.keys()].flatMap((name) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(name)).map(({ file, start = 0, messageText }) => {
      const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
      return `${name}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    }),
  );
}
