/** Why a device cannot do something. `code` is for programs and translations, the message for logs. */

export type FaultCode =
  | 'not_paired'
  | 'no_gate'
  | 'nothing_read'
  | 'server_away'
  | 'key_refused'
  | 'refused'
  | 'forged_manifest'
  | 'unreadable_manifest'
  | 'storage_full'
  | 'state_unusable'
  | 'state_lost';

export abstract class DeviceFault extends Error {
  abstract readonly code: FaultCode;

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

export class NotPaired extends DeviceFault {
  readonly code = 'not_paired';

  constructor() {
    super('This device is nobody’s yet.');
  }
}

export class NoGate extends DeviceFault {
  readonly code = 'no_gate';

  constructor() {
    super('This device has no gate.');
  }
}

export class NothingRead extends DeviceFault {
  readonly code = 'nothing_read';

  constructor() {
    super('Nothing was read.');
  }
}

export class ServerAway extends DeviceFault {
  readonly code = 'server_away';

  constructor(message = 'The server does not answer.') {
    super(message);
  }
}

/** `revoked`: the key was wiped. The scans are kept in any case; pair it again, or export them. */
export type KeyTrouble = 'revoked' | 'inactive' | 'key_rotated' | 'unknown_key';

export class KeyRefused extends DeviceFault {
  readonly code = 'key_refused';

  constructor(readonly trouble: KeyTrouble) {
    super(`The server does not take this device’s key: ${trouble}.`);
  }
}

/** The server understood and will not; `refusal` is its own code. */
export class Refused extends DeviceFault {
  readonly code = 'refused';

  constructor(
    readonly refusal: string,
    message: string,
  ) {
    super(message || refusal);
  }
}

export type Forgery = 'signature' | 'another_event' | 'older';

/** What came is not a manifest that was made for this device, now. It was not kept. */
export class ForgedManifest extends DeviceFault {
  readonly code = 'forged_manifest';

  constructor(readonly kind: Forgery) {
    super(`The manifest was not kept: ${kind}.`);
  }
}

/** It is genuine, and this app is too old for it, or the server too new. */
export class UnreadableManifest extends DeviceFault {
  readonly code = 'unreadable_manifest';

  constructor(message: string) {
    super(`The manifest cannot be read by this device: ${message}`);
  }
}

/** There is no room on the disk for what has to be written; it was not written. */
export class StorageFull extends DeviceFault {
  readonly code = 'storage_full';

  constructor() {
    super('There is no room on this device for what has to be kept.');
  }
}

export class StateUnusable extends DeviceFault {
  readonly code = 'state_unusable';

  constructor(message: string) {
    super(`What this device keeps cannot be used: ${message}`);
  }
}

/** The database was there and is gone, to a newer version of the app or by the browser's doing. */
export class StateLost extends DeviceFault {
  readonly code = 'state_lost';

  constructor(message: string) {
    super(`What this device keeps cannot be reached any more: ${message}`);
  }
}

/** Faults of the local storage, whatever the server answers. */
export function isOfDisk(fault: unknown): boolean {
  return (
    fault instanceof StorageFull || fault instanceof StateUnusable || fault instanceof StateLost
  );
}
