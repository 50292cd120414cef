/** `message` starts with `yaml: `. */
export class YamlError extends Error {
  constructor(message: string, cause?: unknown) {
    super(`yaml: ${message}`, { cause });
    this.name = 'YamlError';
  }
}
