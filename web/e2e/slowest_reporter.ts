import { basename } from 'node:path';
import type { FullResult, Reporter, TestCase, TestResult } from '@playwright/test/reporter';

const SHOWN = 15;

interface Timed {
  name: string;
  ms: number;
}

/** Says at the end where the time went. */
export default class SlowestReporter implements Reporter {
  readonly #tests: Timed[] = [];
  readonly #files = new Map<string, number>();
  #passed = 0;

  printsToStdio(): boolean {
    return false;
  }

  onTestEnd(test: TestCase, { duration, status }: TestResult): void {
    const file = basename(test.location.file);
    this.#tests.push({ name: `${file}: ${test.title}`, ms: duration });
    this.#files.set(file, (this.#files.get(file) ?? 0) + duration);
    if (status === 'passed') this.#passed += 1;
  }

  onEnd({ status, duration }: FullResult): void {
    const files = [...this.#files].map(([name, ms]) => ({ name, ms }));
    const lines = [
      `The ${SHOWN} slowest tests, in seconds:`,
      ...table(this.#tests).slice(0, SHOWN),
      'All tests of each file, in seconds:',
      ...table(files),
      `${this.#passed} of ${this.#tests.length} passed in ${seconds(duration)} s: ${status}`,
    ];
    console.log(`\n${lines.join('\n')}`);
  }
}

function table(rows: Timed[]): string[] {
  return rows
    .sort((one, other) => other.ms - one.ms)
    .map(({ name, ms }) => `${seconds(ms).padStart(8)}  ${name}`);
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
