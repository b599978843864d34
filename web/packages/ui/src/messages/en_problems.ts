/** What the server says to programs in its English, said to people. */
export const problems: Record<string, string> = {
  invalid_request: 'Something is not filled in right. It says where.',
  invalid_schedule: 'The dates contradict each other. It says where.',
  invalid_ticket_type: 'This ticket type does not fit the event. It says where.',
  version_conflict:
    'Somebody changed this in the meantime. How it stands now is shown; look again and repeat your change.',
};
