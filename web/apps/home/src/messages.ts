import type { Language } from '@voelgoed/ui';

const en = {
  appName: 'Home',
  title: 'Tickets and gates, in one place',
  text: 'This is a Voelgoed installation: ticketing and gate scanning for venues and the people who run their events. Where do you want to go?',
  apps: {
    'box-office': {
      name: 'Box office',
      text: 'For customers and the box office: choose seats on the map, buy tickets, find orders.',
    },
    dashboard: {
      name: 'Dashboard',
      text: 'For the people who run the events: set them up, follow them live, review and report.',
    },
    scanner: {
      name: 'Scanner',
      text: 'For the devices at the gates: made for a phone in one hand, with or without a network.',
    },
  },
  programs: 'For programs',
  programsText: 'Whatever the apps do, programs can do too:',
  documentation: 'API documentation',
};

const af: typeof en = {
  appName: 'Tuis',
  title: 'Kaartjies en hekke, op een plek',
  text: 'Dit is ’n Voelgoed-installasie: kaartjies en skandering by die hekke, vir lokale en die mense wat hulle geleenthede aanbied. Waarheen wil jy gaan?',
  apps: {
    'box-office': {
      name: 'Loket',
      text: 'Vir klante en die loket: kies sitplekke op die kaart, koop kaartjies, vind bestellings.',
    },
    dashboard: {
      name: 'Kontroleskerm',
      text: 'Vir die mense wat die geleenthede aanbied: stel hulle op, volg hulle regstreeks, hersien en doen verslag.',
    },
    scanner: {
      name: 'Skandeerder',
      text: 'Vir die toestelle by die hekke: gemaak vir ’n foon in een hand, met of sonder ’n netwerk.',
    },
  },
  programs: 'Vir programme',
  programsText: 'Wat die toepassings doen, kan programme ook doen:',
  documentation: 'API-dokumentasie',
};

export const LANGUAGES: Record<Language, typeof en> = { en, af };
