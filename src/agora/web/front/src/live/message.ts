// Messages of `agora.wire` (`agora.wire.message`): eight bytes with the length of the header, the header as JSON, then arrays, little-endian.

export type Numbers = ArrayLike<number>;
type Part = { dtype: string; shape: number[]; data_offsets: [number, number] };

const TYPES = { F32: Float32Array, F64: Float64Array, I32: Int32Array, I16: Int16Array, I8: Int8Array, U8: Uint8Array, BOOL: Uint8Array };

function arrayOf(bytes: ArrayBuffer, { dtype, data_offsets: [from, to] }: Part): Numbers {
  if (dtype === "I64") return Array.from(new BigInt64Array(bytes.slice(from, to)), Number);
  if (!(dtype in TYPES)) throw new Error(`unknown number type ${dtype}`);
  return new TYPES[dtype as keyof typeof TYPES](bytes.slice(from, to));
}

/** The content of a message; each array is a flat one. */
export function unpack(data: ArrayBuffer): unknown {
  const length = Number(new DataView(data).getBigUint64(0, true));
  const { __metadata__, ...parts } = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, length))) as Record<string, Part> & { __metadata__: { agora: string } };
  const body = data.slice(8 + length);
  return JSON.parse(__metadata__.agora, (_, value: unknown) => {
    if (value === null || typeof value !== "object") return value;
    if ("$array" in value) return arrayOf(body, parts[String(value.$array)]);
    if ("$number" in value) return value.$number === "inf" ? Infinity : -Infinity;
    return value;
  }).content;
}
