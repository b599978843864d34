export const emptying = {
  declare: 'Declare empty',
  title: 'Declare the venue empty?',
  text: 'Everybody who came in until now no longer counts as inside. This cannot be undone.',
  reason: 'Reason',
  hint: 'Saved in the log.',
  missing: 'Enter a reason.',
  failed: 'The venue was not declared empty',
  by: (who: string, when: string) => `Declared empty by ${who}, ${when}`,
  at: (when: string) => `Declared empty ${when}`,
};
