import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type {
  FullResult,
  Reporter,
  TestCase,
  TestError,
  TestResult,
} from '@playwright/test/reporter';

const SHOWN = 15;
const ERROR_LINES_MAX = 12;

interface Timed {
  name: string;
  ms: number;
}

/** Says at the end where the time went, and last what failed: a long log may be cut at its head. */
export default class SlowestReporter implements Reporter {
  readonly #tests: Timed[] = [];
  readonly #files = new Map<string, number>();
  readonly #failures: string[] = [];
  #passed = 0;

  printsToStdio(): boolean {
    return false;
  }

  onTestEnd(test: TestCase, { duration, status, errors }: TestResult): void {
    const file = basename(test.location.file);
    const name = `${file}: ${test.title}`;
    this.#tests.push({ name, ms: duration });
    this.#files.set(file, (this.#files.get(file) ?? 0) + duration);
    if (status === 'passed') this.#passed += 1;
    else this.#failures.push(`FAILED ${name} (${status})`, ...errors.flatMap(firstLines));
  }

  onEnd({ status, duration }: FullResult): void {
    const files = [...this.#files].map(([name, ms]) => ({ name, ms }));
    const lines = [
      `The ${SHOWN} slowest tests, in seconds:`,
      ...table(this.#tests).slice(0, SHOWN),
      'All tests of each file, in seconds:',
      ...table(files),
      `${this.#passed} of ${this.#tests.length} passed in ${seconds(duration)} s: ${status}`,
      ...this.#failures,
    ];
    console.log(`\n${lines.join('\n')}`);
  }
}

/** Of its message, and where it was thrown. */
function firstLines({ message = '', location }: TestError): string[] {
  const said = stripVTControlCharacters(message).split('\n').filter(Boolean);
  const at = location ? [`${basename(location.file)}:${location.line}`] : [];
  return [...said.slice(0, ERROR_LINES_MAX), ...at].map((line) => `    ${line}`);
}

function table(rows: Timed[]): string[] {
  return rows
    .sort((one, other) => other.ms - one.ms)
    .map(({ name, ms }) => `${seconds(ms).padStart(8)}  ${name}`);
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
