import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A published type's description and those of its fields. */
export interface TypeDocs {
  readonly type: string | undefined;
  readonly fields: ReadonlyMap<string, string>;
}

const none: TypeDocs = { type: undefined, fields: new Map() };
let folder: string | undefined | null = null;

/** Where @kubernetes/client-node keeps its typings, whose comments are Kubernetes' own descriptions. */
function modelsFolder(): string | undefined {
  if (folder === null) {
    try {
      const main = createRequire(import.meta.url).resolve('@kubernetes/client-node');
      folder = join(dirname(main), 'gen', 'models');
    } catch {
      folder = undefined;
    }
  }
  return folder;
}

/**
 * The descriptions of `io.k8s.api.apps.v1.Deployment`, read from the installed typings. Nothing where the package
 * or the type is not there: descriptions are for people, `kubectl explain` lives without them.
 */
export function docsOf(name: string): TypeDocs {
  let docs = known.get(name);
  if (docs === undefined) {
    docs = load(name);
    known.set(name, docs);
  }
  return docs;
}

const known = new Map<string, TypeDocs>();

function load(name: string): TypeDocs {
  const parts = name.split('.');
  const [group = '', version = '', kind = ''] = parts.slice(-3);
  const short = kind === '' ? name : capital(version) + kind;
  const models = modelsFolder();
  if (models === undefined) return none;
  const text = read(join(models, `${capital(group)}${short}.d.ts`)) ?? read(join(models, `${short}.d.ts`));
  return text === undefined ? none : parse(text);
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const commented = /\/\*\*\n((?:\s*\*.*\n)*?)\s*\*\/\n\s*(?:export declare class|'([^']+)'\??:)/g;

function parse(text: string): TypeDocs {
  const fields = new Map<string, string>();
  let type: string | undefined;
  for (const match of text.matchAll(commented)) {
    const lines = (match[1] ?? '').split('\n').map((line) => line.replace(/^\s*\* ?/, ''));
    const description = lines
      .join('\n')
      .trim()
      .replaceAll('*\\/', '*/')
      .replaceAll(/\\(["'])/g, '$1');
    if (match[2] === undefined) type = description;
    else fields.set(match[2].replace(/^_/, ''), description);
  }
  return { type, fields };
}
