import { type Environment, Optional } from '@marcbachmann/cel-js';
import {
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateGenerateName,
  validateLabelValue,
  validateQualifiedName,
} from '../names.ts';
import { hasFormat } from '../validation/formats.ts';

type Check = (text: string) => string[];

class CelFormats {}

class CelFormat {
  readonly check: Check;

  constructor(check: Check) {
    this.check = check;
  }
}

const prefix =
  (check: Check): Check =>
  (text) =>
    validateGenerateName(text, check);
const known =
  (format: string, otherwise: string): Check =>
  (text) =>
    hasFormat(text, format) ? [] : [otherwise];

const formats: ReadonlyMap<string, CelFormat> = new Map(
  Object.entries({
    dns1123Label: validateDns1123Label,
    dns1123Subdomain: validateDns1123Subdomain,
    dns1035Label: validateDns1035Label,
    qualifiedName: validateQualifiedName,
    dns1123LabelPrefix: prefix(validateDns1123Label),
    dns1123SubdomainPrefix: prefix(validateDns1123Subdomain),
    dns1035LabelPrefix: prefix(validateDns1035Label),
    labelValue: validateLabelValue,
    uri: known('uri', 'invalid URI for request'),
    uuid: known('uuid', 'does not match the UUID format'),
    byte: known('byte', 'invalid base64'),
    date: known('date', 'invalid date'),
    datetime: known('datetime', 'invalid datetime'),
  }).map(([name, check]) => [name, new CelFormat(check)]),
);

/**
 * `format.dns1123Label().validate(text)`: what is wrong, or none. Of type `dyn`: rules compare it with null, too.
 * https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-format-library
 */
export function registerFormats(env: Environment): void {
  env.registerType('Formats', CelFormats).registerType('Format', CelFormat);
  env.registerConstant('format', 'Formats', new CelFormats());
  for (const [name, format] of formats) env.registerFunction(`Formats.${name}(): Format`, () => format);
  env
    .registerFunction('Formats.named(string): optional<Format>', (_: CelFormats, name: string) =>
      Optional.of(formats.get(name)),
    )
    .registerFunction('Format.validate(string): dyn', ({ check }: CelFormat, text: string) => {
      const problems = check(text);
      return Optional.of(problems.length > 0 ? problems : undefined);
    });
}
