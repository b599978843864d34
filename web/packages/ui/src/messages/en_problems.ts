import type { ProblemWords } from './problem_words.ts';

/** What the server says to programs in its English, said to people. */
export const problems: ProblemWords = {
  batch_malformed: 'What was sent has faults and was not looked at.',
  body_too_large: 'This is more than can be sent at once.',
  body_too_slow: 'The network was too slow to send this. Try again.',
  empty_span: 'The beginning must be before the end.',
  idempotency_key_reused: 'This was sent already, with something else in it. Load the page again.',
  invalid_digest: 'This was changed on its way. Try again.',
  invalid_encoding: 'This was cut short on its way. Try again.',
  invalid_json: 'The server could not read what was sent. Load the page again.',
  invalid_layout: 'The layout has faults. The list says where.',
  invalid_overrides: 'What this event does otherwise than its layout has faults. It says where.',
  invalid_request: 'Something is not filled in right. It says where.',
  invalid_schedule: 'The dates contradict each other. It says where.',
  invalid_ticket_file: 'This is not a table of tickets. The list says which line is wrong.',
  invalid_ticket_type: 'This ticket type does not fit the event. It says where.',
  no_suitable_seats: 'No free seats fit this party.',
  payment_method_missing: 'Say how it was paid: in cash, by card, or given away.',
  policy_forbids: 'The seating policy of the organisation does not allow this.',
  scan_id_reused: 'The number of this scan was used for another one.',
  seat_taken: 'Some of these seats are held or sold; nothing was changed.',
  ticket_type_sold_out: ({ details }) => {
    const left = soldOut(details);
    return left ? `There are not that many left: ${left}.` : 'There are not that many left.';
  },
  unknown_topic: 'What this page shows is not there.',
  unsupported_encoding: 'The server cannot read how this was packed.',
  unsupported_media_type: 'The server cannot read a file of this kind.',
  version_conflict:
    'Somebody changed this in the meantime. How it stands now is shown; look again and repeat your change.',
  // Mostly the server says which membership, role or list is missing; only its general word is not for people.
  zone_access_denied: ({ message }) =>
    message.includes('`') ? 'This zone is not open to everybody of your party.' : undefined,
};

/** `Concession 2, Child 0`: of which ticket types how many there are. */
export function soldOut(details: Record<string, unknown> = {}): string {
  const types = Array.isArray(details.ticket_types) ? details.ticket_types : [];
  return types
    .map(({ name, left }: { name?: string; left?: number }) => `${name} ${left ?? 0}`)
    .join(', ');
}
