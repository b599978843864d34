export type Frame =
  | { type: 'subscribed' | 'resync'; topic: string; seq: number }
  | { type: 'message'; topic: string; seq: number; data: Record<string, unknown> }
  | { type: 'refused'; topic: string; error: string; message: string };

/** A frame that this app understands, or nothing: newer servers may send more kinds. */
export function parseFrame(text: unknown): Frame | undefined {
  const frame = parseObject(text);
  if (!frame || typeof frame.topic !== 'string') return undefined;
  const { type, topic, seq, data, error, message } = frame;
  if (type === 'refused' && typeof error === 'string' && typeof message === 'string') {
    return { type, topic, error, message };
  }
  if (typeof seq !== 'number') return undefined;
  if (type === 'subscribed' || type === 'resync') return { type, topic, seq };
  if (type === 'message' && isObject(data)) return { type, topic, seq, data };
  return undefined;
}

function parseObject(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
