'use strict';
// Makes a screenshot small: at most 256 colours, the most frequent ones, others become their nearest.
const zlib = require('node:zlib');

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunksOf(png) {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const size = png.readUInt32BE(at);
    chunks.push({type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + size)});
    at += 12 + size;
  }
  return chunks;
}

function paeth(a, b, c) {
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// The pixels of an 8-bit RGB or RGBA image, row by row.
function pixelsOf(png) {
  const chunks = chunksOf(png);
  const head = chunks.find((chunk) => chunk.type === 'IHDR').data;
  const [width, height, depth] = [head.readUInt32BE(0), head.readUInt32BE(4), head[9] === 6 ? 4 : 3];
  const raw = zlib.inflateSync(Buffer.concat(chunks.filter((c) => c.type === 'IDAT').map((c) => c.data)));
  const row = width * depth;
  const out = Buffer.alloc(row * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (row + 1)];
    for (let x = 0; x < row; ++x) {
      const here = y * row + x;
      const left = x >= depth ? out[here - depth] : 0;
      const up = y > 0 ? out[here - row] : 0;
      const corner = x >= depth && y > 0 ? out[here - row - depth] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[here] = raw[y * (row + 1) + 1 + x] + guess;
    }
  }
  return {width, height, depth, out};
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(zlib.crc32(body));
  return Buffer.concat([size, body, crc]);
}

function small(png) {
  const {width, height, depth, out} = pixelsOf(png);
  const counts = new Map();
  for (let at = 0; at < out.length; at += depth) {
    const colour = (out[at] << 16) | (out[at + 1] << 8) | out[at + 2];
    counts.set(colour, (counts.get(colour) || 0) + 1);
  }
  const distance = (a, b) => ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 +
                             ((a & 255) - (b & 255)) ** 2;
  // Areas keep their very colours; a rare colour counts if no frequent one is like it.
  const byCount = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
  const palette = byCount.slice(0, 32);
  for (const colour of byCount.slice(32)) {
    if (palette.length < 256 && palette.every((other) => distance(other, colour) > 300)) palette.push(colour);
  }
  const index = new Map(palette.map((colour, i) => [colour, i]));
  const nearest = (colour) => {
    let best = 0;
    for (let i = 1; i < palette.length; ++i) {
      if (distance(palette[i], colour) < distance(palette[best], colour)) best = i;
    }
    return best;
  };
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0, at = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x, at += depth) {
      const colour = (out[at] << 16) | (out[at + 1] << 8) | out[at + 2];
      if (!index.has(colour)) index.set(colour, nearest(colour));
      rows[y * (width + 1) + 1 + x] = index.get(colour);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]));
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('PLTE', colours),
                        chunk('IDAT', zlib.deflateSync(rows, {level: 9})), chunk('IEND', Buffer.alloc(0))]);
}

module.exports = {small};
