import { ApiError } from '@voelgoed/api';

/** What somebody filled in, on its way to the server: under way, taken, or refused and why. */
export class FormState {
  isBusy = $state(false);
  /** Why it was refused. */
  problem = $state.raw<ApiError | undefined>();
  #faults = $state.raw(new Map<string, string>());

  /** Whether it was taken. Twice at once is once. */
  async submit(send: () => Promise<unknown>): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.clear();
    try {
      await send();
      return true;
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.#faults = faultsOf(this.problem);
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  clear(): void {
    this.problem = undefined;
    this.#faults = new Map();
  }

  /** What the server has against a field, or against something in it. */
  fault(field: string): string | undefined {
    for (const [path, message] of this.#faults) {
      if (path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)) {
        return message;
      }
    }
    return undefined;
  }
}

function faultsOf({ details: { faults } }: ApiError): Map<string, string> {
  if (!Array.isArray(faults)) return new Map();
  const given = faults as { path?: unknown; message?: unknown }[];
  return new Map(
    given.map(({ path, message }) => [String(path).replace(/^\$\.?/, ''), String(message ?? '')]),
  );
}
