import type { ShellWords } from './en.ts';

export const af: ShellWords = {
  language: 'Taal',
  again: 'Probeer weer',
  more: 'Wys meer',
  cancel: 'Kanselleer',
  oneMoment: 'Net ’n oomblik',
  noConnection: 'Geen verbinding nie',
  skip: 'Slaan oor na die inhoud',
  logOut: 'Teken uit',
  ended: 'Jou sessie het verval. Teken asseblief weer in.',
  stillIn: (problem) => `Jy is nog ingeteken. ${problem}`,

  connection: {
    connected: 'Regstreeks bygewerk',
    waiting: 'Nie regstreeks bygewerk nie, koppel weer',
    connecting: 'Koppel',
  },

  logIn: {
    title: 'Teken in',
    action: 'Teken in',
    organization: 'Organisasie',
    organizationHint: 'Die kort naam, soos in die skakel wat jy gekry het.',
    email: 'E-pos',
    password: 'Wagwoord',
    name: 'Jou naam',
    isNew: 'Nuut hier?',
    registerInstead: 'Skep ’n rekening',
    registerTitle: 'Skep ’n rekening',
    register: 'Skep rekening',
    passwordHint: (characters) => `Ten minste ${characters} karakters.`,
    isKnown: 'Het jy ’n rekening?',
    logInInstead: 'Teken eerder in',
    missing: {
      organization: 'Tik die organisasie in.',
      email: 'Tik jou e-posadres in.',
      password: 'Tik jou wagwoord in.',
      name: 'Tik jou naam in.',
      newPassword: (characters) => `Gebruik ten minste ${characters} karakters.`,
    },
    refused: {
      organization: 'Dit is nie die kort naam van ’n organisasie nie.',
      name: 'Hierdie naam kan nie gebruik word nie.',
      email: 'Dit is nie ’n e-posadres nie.',
      password: 'Hierdie wagwoord kan nie gebruik word nie.',
    },
  },
};
