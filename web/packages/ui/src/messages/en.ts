/** The source of all words that every app has: every other language has exactly these keys. */
export const en = {
  language: 'Language',
  again: 'Try again',
  more: 'Show more',
  cancel: 'Cancel',
  oneMoment: 'One moment',
  noConnection: 'No connection',
  skip: 'Skip to content',
  logOut: 'Log out',
  ended: 'Your session has ended. Please log in again.',
  stillIn: (problem: string) => `You are still logged in. ${problem}`,

  connection: {
    connected: 'Live updates on',
    waiting: 'No live updates, reconnecting',
    connecting: 'Connecting',
  },

  logIn: {
    title: 'Log in',
    action: 'Log in',
    organization: 'Organisation',
    organizationHint: 'Its short name, as in the link you were given.',
    email: 'Email',
    password: 'Password',
    name: 'Your name',
    isNew: 'New here?',
    registerInstead: 'Create an account',
    registerTitle: 'Create an account',
    register: 'Create account',
    passwordHint: (characters: number) => `At least ${characters} characters.`,
    isKnown: 'You have an account?',
    logInInstead: 'Log in instead',
    missing: {
      organization: 'Enter the organisation.',
      email: 'Enter your email address.',
      password: 'Enter your password.',
      name: 'Enter your name.',
      newPassword: (characters: number) => `Use at least ${characters} characters.`,
    },
    refused: {
      organization: 'This is not the short name of an organisation.',
      name: 'This name cannot be used.',
      email: 'This is not an email address.',
      password: 'This password cannot be used.',
    },
  },
};

export type ShellWords = typeof en;
