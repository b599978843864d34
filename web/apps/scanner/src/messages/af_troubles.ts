import type { Trouble, TroubleCode } from './en_troubles.ts';

export const troubles: Record<TroubleCode, Trouble> = {
  server_away: {
    what: 'Die bediener antwoord nie.',
    todo: 'Gaan die Wi-Fi of mobiele data van hierdie toestel na en probeer weer.',
  },
  not_paired: { what: 'Hierdie toestel is nie gekoppel nie.', todo: 'Koppel dit eers.' },
  no_gate: {
    what: 'Hierdie toestel het geen hek nie.',
    todo: 'Vra wie na die toestelle omsien om dit een te gee. Dit volg binne ’n halfminuut.',
  },
  nothing_read: { what: 'Niks is gelees nie.', todo: 'Skandeer of tik die kode weer.' },
  key_refused: {
    what: 'Die bediener ken nie die sleutel van hierdie toestel nie.',
    todo: 'Dit is herroep of afgeskakel. Koppel dit weer; sy skanderings word bewaar.',
  },
  inactive: {
    what: 'Iemand het hierdie toestel afgeskakel.',
    todo: 'Vra wie na die toestelle omsien om dit weer aan te skakel.',
  },
  refused: {
    what: 'Die bediener het geweier.',
    todo: 'Probeer weer; as dit so bly, sê vir ’n toesighouer.',
  },
  forged_manifest: {
    what: 'Die kaartjielys is nie vir hierdie toestel gemaak nie en is nie gehou nie.',
    todo: 'Iemand peuter dalk met die netwerk. Gebruik ’n ander netwerk en sê vir ’n toesighouer.',
  },
  manifest_of_another_event: {
    what: 'Die kaartjielys is vir ’n ander geleentheid en is nie gehou nie.',
    todo: 'Gaan hierdie toestel se hek na saam met wie na die toestelle omsien.',
  },
  manifest_too_old: {
    what: 'Die kaartjielys wat gekom het, is ouer as die een hier en is nie gehou nie.',
    todo: 'Probeer oor ’n minuut weer; as dit so bly, sê vir ’n toesighouer.',
  },
  unreadable_manifest: {
    what: 'Hierdie app kan nie die kaartjielys lees nie.',
    todo: 'Herbegin die app om die nuutste weergawe te kry.',
  },
  storage_full: {
    what: 'Hierdie toestel se geheue is vol.',
    todo: 'Vee foto’s of apps uit, en stuur die skanderings wat wag. Moenie voor dit verder skandeer nie.',
  },
  state_unusable: {
    what: 'Hierdie blaaier laat nie die app toe om iets te bewaar nie.',
    todo: 'Verlaat privaat blaai, of gebruik ’n ander blaaier.',
  },
  state_lost: {
    what: 'Wat hierdie toestel bewaar, kan nie meer bereik word nie.',
    todo: 'Herbegin die app. Skanderings wat gewys is, word bewaar.',
  },
  insecure: {
    what: 'Hierdie bladsy se adres is nie veilig nie, dus laat die blaaier geen kamera of sleutels toe nie.',
    todo: 'Maak die bladsy met https oop.',
  },
  pairing_token_not_found: {
    what: 'Hierdie kode is onbekend, reeds gebruik, of ouer as vyf minute.',
    todo: 'Vra vir ’n nuwe kode en gebruik dit binne vyf minute.',
  },
  device_already_paired: {
    what: 'Die organisasie ken hierdie toestel reeds.',
    todo: 'Vra vir “Koppel weer” langs sy naam op die kontroleskerm se bladsy met toestelle, en gebruik daardie kode.',
  },
  pairing_for_another_device: {
    what: 'Hierdie kode is vir ’n ander toestel.',
    todo: 'Vra vir ’n kode vir hierdie toestel.',
  },
  too_many_devices: {
    what: 'Die organisasie het te veel toestelle.',
    todo: 'Wie na die toestelle omsien, moet dié wat nie gebruik word nie, herroep.',
  },
  rate_limited: { what: 'Te veel pogings.', todo: 'Wag ’n minuut en probeer weer.' },
  token_unreadable: {
    what: 'Dit is nie ’n koppelkode nie.',
    todo: 'Dit het twaalf letters en syfers, soos 7K2M-9QXD-E4TR.',
  },
  token_is_ticket: {
    what: 'Dit is ’n kaartjie se strepieskode, nie ’n koppelkode nie.',
    todo: 'Skandeer die kode op die skerm van wie na die toestelle omsien.',
  },
  timestamp_out_of_range: {
    what: 'Hierdie toestel se klok is meer as vyf minute verkeerd.',
    todo: 'Laat die toestel self sy datum en tyd stel.',
  },
  event_not_found: {
    what: 'Hierdie toestel se geleentheid bestaan nie meer nie.',
    todo: 'Vra wie na die toestelle omsien om dit ’n ander hek te gee.',
  },
  event_not_live: {
    what: 'Die geleentheid is nie oop vir skandering nie, dus is nie na die tou gekyk nie.',
    todo: 'Gebruik eerder “Stuur nou”, of voer die tou uit.',
  },
  batch_too_old: {
    what: 'Die skanderings, of hierdie toestel se klok, is meer as ’n dag verkeerd.',
    todo: 'Voer die tou uit vir die kantoor.',
  },
  camera_denied: {
    what: 'Die kamera word nie toegelaat nie.',
    todo: 'Laat dit toe in die blaaier se instellings vir hierdie bladsy, en probeer weer.',
  },
  camera_missing: {
    what: 'Daar is geen kamera nie.',
    todo: 'Gebruik ’n handskandeerder of tik die kode in.',
  },
  camera_busy: {
    what: '’n Ander app gebruik die kamera.',
    todo: 'Maak dit toe en probeer weer.',
  },
  camera_unsupported: {
    what: 'Hierdie blaaier kan nie die kamera hier gebruik nie.',
    todo: 'Maak die bladsy met https oop, in ’n blaaier wat op datum is, of tik die kode in.',
  },
  decoder_broken: {
    what: 'Die deel van die app wat kodes lees, begin nie.',
    todo: 'Herbegin die app, of tik die kode in.',
  },
  keys_hidden: {
    what: 'Die sleutelbord wat op hierdie toestel gekies is, steek weg wat die skandeerder tik.',
    todo: 'Kies ’n gewone Engelse sleutelbord sonder voorstelle, en skandeer weer.',
  },
  busy: {
    what: '’n Ander oortjie van hierdie app is besig om te stuur.',
    todo: 'Wag totdat dit klaar is.',
  },
  sending: {
    what: 'Hierdie app is klaar besig om te stuur.',
    todo: 'Probeer weer wanneer dit klaar is.',
  },
  unexpected: {
    what: 'Iets het in hierdie app verkeerd geloop.',
    todo: 'Herbegin die app. Skanderings wat gewys is, word bewaar.',
  },
};
