import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

interface Answer {
  is_done: boolean;
  output: string;
}

/** Who runs the installation: commands of `voelgoed`, all of them in one process. */
export class Operator {
  readonly #process: ChildProcess;
  readonly #waiting: ((answer: Answer) => void)[] = [];

  constructor(settings: Record<string, string>) {
    this.#process = spawn('.venv/bin/python', ['-m', 'tests.browser_operator'], {
      cwd: '..',
      env: { ...process.env, ...settings },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: this.#process.stdout! }).on('line', (line) =>
      this.#waiting.shift()?.(JSON.parse(line) as Answer),
    );
    this.#process.once('exit', (code) => {
      const gone = { is_done: false, output: `the operator's process ended with ${code}` };
      for (const answer of this.#waiting.splice(0)) answer(gone);
    });
  }

  command(command: string[], input = ''): Promise<string> {
    return this.ask({ command, input });
  }

  async ask(asked: object): Promise<string> {
    const answered = new Promise<Answer>((resolve) => this.#waiting.push(resolve));
    this.#process.stdin!.write(`${JSON.stringify(asked)}\n`);
    const { is_done, output } = await answered;
    if (!is_done) throw new Error(`${JSON.stringify(asked)}: ${output}`);
    return output;
  }

  close(): void {
    this.#process.stdin!.end();
  }
}
