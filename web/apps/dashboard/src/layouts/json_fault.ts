/** Where a text is no JSON; every browser words that differently, or not at all. */
export interface TextPlace {
  line: number;
  column: number;
  /** What stands there. */
  excerpt: string;
}

const EXCERPT_CHARACTERS_MAX = 60;

const BLANKS = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;

/** What may come next: a value, the end of an empty list, a key and so on. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'nothing';

/** Undefined if the text is JSON. */
export function jsonFault(text: string): TextPlace | undefined {
  const scanner = new Scanner(text);
  return scanner.isJson() ? undefined : placeOf(text, scanner.at);
}

export function placeOf(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  const end = text.indexOf('\n', offset);
  const rest = text.slice(offset, end < 0 ? undefined : end);
  return {
    line,
    column: offset - start + 1,
    excerpt: rest.trimEnd().slice(0, EXCERPT_CHARACTERS_MAX),
  };
}

class Scanner {
  /** How far the text is sound. */
  at = 0;
  #expected: Expected = 'value';
  /** Of everything that is open, whether it is an object. */
  readonly #open: boolean[] = [];

  constructor(private readonly text: string) {}

  isJson(): boolean {
    for (;;) {
      this.#take(BLANKS);
      if (this.at === this.text.length) return this.#expected === 'nothing';
      if (!this.#step(this.text[this.at]!)) return false;
    }
  }

  #step(next: string): boolean {
    if (this.#expected === 'colon') return this.#punctuation(next === ':', 'value');
    if (this.#expected === 'comma') return this.#afterValue(next);
    if (this.#expected === 'nothing') return false;
    if (this.#expected === 'key or }' && next === '}') return this.#close();
    if (this.#expected === 'value or ]' && next === ']') return this.#close();
    if (this.#expected.startsWith('key')) return this.#string() && this.#then('colon');
    return this.#value(next);
  }

  #value(next: string): boolean {
    if (next === '{' || next === '[') {
      this.#open.push(next === '{');
      return this.#punctuation(true, next === '{' ? 'key or }' : 'value or ]');
    }
    const isSound = next === '"' ? this.#string() : this.#take(NUMBER) || this.#take(LITERAL);
    return isSound && this.#valueDone();
  }

  #afterValue(next: string): boolean {
    const inObject = this.#open.at(-1)!;
    if (next === (inObject ? '}' : ']')) return this.#close();
    return this.#punctuation(next === ',', inObject ? 'key' : 'value');
  }

  #close(): boolean {
    this.#open.pop();
    this.at += 1;
    return this.#valueDone();
  }

  #valueDone(): boolean {
    return this.#then(this.#open.length > 0 ? 'comma' : 'nothing');
  }

  #punctuation(isThere: boolean, then: Expected): boolean {
    if (!isThere) return false;
    this.at += 1;
    return this.#then(then);
  }

  #then(expected: Expected): boolean {
    this.#expected = expected;
    return true;
  }

  /** Of one that never ends, `at` is where it went wrong. */
  #string(): boolean {
    if (!this.#take(STRING) || this.text[this.at] !== '"') return false;
    this.at += 1;
    return true;
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) return false;
    this.at = pattern.lastIndex;
    return true;
  }
}
