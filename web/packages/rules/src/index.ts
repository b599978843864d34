export { readBarcode, verifyBarcode, type Barcode, type BarcodeFields } from './barcode.ts';
export type { Bytes } from './bytes.ts';
export { readCode } from './codes.ts';
export { hasEd25519 } from './crypto.ts';
export { dayOf, decide } from './decision.ts';
export {
  applyDelta,
  barcodeHash,
  codeHash,
  contentHash,
  cut,
  DeltaDoesNotFit,
  isDelta,
  readCodeKey,
  tagOf,
  verify,
} from './manifest.ts';
export * from './manifest_model.ts';
export * from './model.ts';
export * from './moments.ts';
export { decideOffline, lacking, placeOf, type About, type Place } from './offline.ts';
export { colourOf, outcomeOf } from './outcomes.ts';
export { unknownTo } from './own_scans.ts';
export { readPresented, type Presented } from './presented.ts';
export { readManifest, Register, UnreadableManifest } from './register.ts';
export { isSignedBy, signScan, type SignedFields } from './scan_signatures.ts';
export * from './scan_history_model.ts';
export { clashesOf, frozenPrefix, reconcile } from './reconcile.ts';
