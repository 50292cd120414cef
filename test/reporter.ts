import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * One line for each test that failed, printed as the process ends and so after all else: who sees no more than the end
 * of a log knows which. Files that cannot be read, hooks, and errors outside of tests have a line too.
 */
export class FailedReporter implements Reporter {
  #lines: string[] = [];

  onInit(): void {
    process.once('exit', () => {
      if (this.#lines.length > 0) writeSync(process.stdout.fd, `${this.#lines.join('\n')}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string }[]): void {
    this.#lines = [
      ...modules.flatMap(failuresOf),
      ...unhandled.map(({ message }) => `FAILED outside of tests: ${firstLine(message)}`),
    ];
  }
}

function failuresOf(module: TestModule): string[] {
  const file = `${module.project.name} ${module.relativeModuleId}`;
  const line = (name: string, message = '') => `FAILED ${file}${name}: ${firstLine(message)}`;
  return [
    ...module.errors().map(({ message }) => line('', message)),
    ...[...module.children.allSuites()].flatMap((suite) =>
      suite.errors().map(({ message }) => line(` > ${oneLine(suite.fullName)}`, message)),
    ),
    ...[...module.children.allTests('failed')].map((test) =>
      line(` > ${oneLine(test.fullName)}`, test.result().errors?.[0]?.message),
    ),
  ];
}

/** Of a property the seed, too, which stands on the second. */
function firstLine(text: string): string {
  const [first = '', second = ''] = text.split('\n', 2);
  return first.startsWith('Property failed') ? `${first} ${second}` : first;
}

function oneLine(name: string): string {
  return name.replaceAll('\n', ' ');
}
