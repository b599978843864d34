import type { FormState } from '@voelgoed/ui';

/** Fields on a form, be it of something new or of something there is. */
export interface Filling<F> {
  fields: F;
  readonly form: FormState;
}
