// NumPy's .npz: arrays as .npy files in a ZIP archive, stored without compression.

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function crc32(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = TABLE[(c ^ byte) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

// Version 1 of the format: a header that is padded so that the numbers start at a multiple of 64.
function npy(type, shape, raw) {
  const sizes = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  let header = `{'descr': '${type}', 'fortran_order': False, 'shape': ${sizes}, }`;
  header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + "\n";
  const bytes = new Uint8Array(10 + header.length + raw.length);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  bytes.set(new TextEncoder().encode(header), 10);
  bytes.set(raw, 10 + header.length);
  return bytes;
}

export function numbers(values, shape = [values.length]) {
  const type = { Float64Array: "<f8", Uint16Array: "<u2", Uint32Array: "<u4" }[values.constructor.name];
  return npy(type, shape, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
}

// Text as NumPy keeps it: four bytes per character, all as long as the longest.
export function strings(texts) {
  const letters = texts.map((text) => Array.from(text, (c) => c.codePointAt(0)));
  const longest = Math.max(1, ...letters.map((codes) => codes.length));
  const all = new Uint32Array(longest * texts.length);
  letters.forEach((codes, k) => all.set(codes, k * longest));
  return npy(`<U${longest}`, [texts.length], new Uint8Array(all.buffer));
}

export function npz(arrays) {
  const parts = [], directory = [];
  let offset = 0;
  for (const [name, bytes] of Object.entries(arrays)) {
    const file = new TextEncoder().encode(`${name}.npy`);
    const common = new DataView(new ArrayBuffer(26));
    common.setUint16(0, 20, true);
    common.setUint16(8, 0x21, true); // 1 January 1980: the format has no "no date"
    common.setUint32(10, crc32(bytes), true);
    common.setUint32(14, bytes.length, true);
    common.setUint32(18, bytes.length, true);
    common.setUint16(22, file.length, true);
    const entry = new Uint8Array(common.buffer);
    parts.push(new Uint8Array([0x50, 0x4b, 3, 4]), entry, file, bytes);
    const tail = new DataView(new ArrayBuffer(14));
    tail.setUint32(10, offset, true);
    directory.push(new Uint8Array([0x50, 0x4b, 1, 2, 20, 0]), entry, new Uint8Array(tail.buffer), file);
    offset += 30 + file.length + bytes.length;
  }
  const length = directory.reduce((sum, part) => sum + part.length, 0);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, Object.keys(arrays).length, true);
  end.setUint16(10, Object.keys(arrays).length, true);
  end.setUint32(12, length, true);
  end.setUint32(16, offset, true);
  return new Blob([...parts, ...directory, new Uint8Array(end.buffer)], { type: "application/zip" });
}
