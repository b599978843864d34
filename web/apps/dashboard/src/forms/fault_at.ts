import type { FormState } from '@voelgoed/ui';
import { speech } from '../app.ts';

/** What is wrong with a field; refusals with one of these codes are about it too. */
export function faultAt(form: FormState, field: string, ...codes: string[]): string | undefined {
  const { problem } = form;
  if (problem && codes.includes(problem.code)) return speech.problem(problem);
  return speech.fault(form.fault(field));
}
