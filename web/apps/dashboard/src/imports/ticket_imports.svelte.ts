import { answer, ApiError, type Api, type ImportFault, type TicketImport } from '@voelgoed/api';
import { Listing } from '@voelgoed/ui';

const PAGE_LIMIT = 20;
const FAULTS_LIMIT = 100;

export function isFinished({ status }: TicketImport): boolean {
  return status === 'done' || status === 'failed';
}

/** Other refusals have faults as well, of a field and not of a line. */
function isImportFault(fault: object): fault is ImportFault {
  return 'line' in fault && 'field' in fault && 'message' in fault;
}

/** Tickets sold elsewhere: files that were brought, how far they are, and what was wrong in them. */
export class TicketImports {
  readonly list: Listing<TicketImport>;
  isSending = $state(false);
  /** Why the last file was not taken; stays until the next one. */
  refusal = $state.raw<ApiError | undefined>();

  readonly #api: Api;
  readonly #eventId: string;

  constructor(api: Api, eventId: string) {
    this.#api = api;
    this.#eventId = eventId;
    this.list = new Listing((after) => {
      const query = { limit: PAGE_LIMIT, ...(after && { after }) };
      const params = { path: { event_id: eventId }, query };
      return answer(api.GET('/api/events/{event_id}/ticket-imports', { params }));
    });
  }

  /** What is wrong with the last file as a whole, where that is why it was not taken. */
  get fileFaults(): ImportFault[] {
    const { faults } = this.refusal?.details ?? {};
    return Array.isArray(faults) ? faults.filter(isImportFault) : [];
  }

  /** Whether it was taken. */
  async send(file: File, isTrial: boolean): Promise<boolean> {
    if (this.isSending) return false;
    this.isSending = true;
    this.refusal = undefined;
    try {
      const query = { dry_run: isTrial, file_name: file.name };
      const params = { path: { event_id: this.#eventId }, query };
      await answer(
        this.#api.POST('/api/events/{event_id}/ticket-imports', {
          params,
          // As it is on the disk: a text that was read and written again would hide what is no UTF-8.
          body: file as unknown as string,
          bodySerializer: (given: unknown) => given as File,
          headers: { 'Content-Type': 'text/csv' },
        }),
      );
      await this.list.anew();
      return true;
    } catch (thrown) {
      this.refusal = ApiError.from(thrown);
      return false;
    } finally {
      this.isSending = false;
    }
  }

  /** Only while there is something to wait for. */
  async look(): Promise<void> {
    if (this.list.items.some((each) => !isFinished(each))) await this.list.load();
  }

  faults(importId: string): Listing<ImportFault> {
    return new Listing((after) => {
      const query = { limit: FAULTS_LIMIT, ...(after && { after: Number(after) }) };
      const params = { path: { import_id: importId }, query };
      return answer(this.#api.GET('/api/ticket-imports/{import_id}/faults', { params }));
    });
  }
}
