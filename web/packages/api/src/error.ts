const NETWORK_MESSAGE = 'The server cannot be reached. Check the connection and try again.';
const UNREADABLE_MESSAGE = 'The server gave an answer that this app does not understand.';

/** Everything that can go wrong with a call, in words that may be shown to a person. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    /** 0 when no answer arrived. */
    readonly status = 0,
  ) {
    super(message);
  }

  /** The fields of the request that a 422 found fault with. */
  get faultyFields(): string[] {
    const { faults } = this.details;
    if (!Array.isArray(faults)) return [];
    return faults.map((fault: { path?: unknown }) => String(fault.path).replace(/^\$\./, ''));
  }

  static network(): ApiError {
    return new ApiError('network', NETWORK_MESSAGE);
  }

  /** A proxy or a captive portal answers with a page of its own: never show that to anybody. */
  static unreadable(status: number): ApiError {
    return new ApiError('unreadable', UNREADABLE_MESSAGE, {}, status);
  }

  static fromBody(body: unknown, status: number): ApiError {
    if (!isErrorBody(body)) return ApiError.unreadable(status);
    return new ApiError(body.error, body.message, body.details ?? {}, status);
  }

  static from(thrown: unknown): ApiError {
    return thrown instanceof ApiError ? thrown : ApiError.network();
  }
}

interface ErrorBody {
  error: string;
  message: string;
  details?: Record<string, unknown>;
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false;
  return (
    'error' in body &&
    typeof body.error === 'string' &&
    'message' in body &&
    typeof body.message === 'string'
  );
}
