/** What is known of a refusal: of a call, or of seats that were only asked about. */
export interface Refused {
  code: string;
  message: string;
  details?: Record<string, unknown>;
}

/** By its code: a sentence, or how one is made of what this refusal tells. Undefined: as the server says. */
export type ProblemWords = Record<string, string | ((refused: Refused) => string | undefined)>;
