// Decodes kept streams with a third decoder: h264bsd, Android's former Baseline decoder, as
// WebAssembly (npm's package tinyh264).
//   build/release/tests/conformance_grid --keep DIR FILE.y4m...
//   npm pack tinyh264 && tar xzf tinyh264-*.tgz
//   node tests/conformance/h264bsd.mjs package DIR
// Compares the pictures of each DIR/*.264, by checksum, with the encoder's reconstruction
// (DIR/*.sums). Not part of continuous integration.
// SPDX-License-Identifier: BSD-2-Clause
import fs from 'fs';
import path from 'path';
import { pathToFileURL } from 'url';

const [packageFolder, folder] = process.argv.slice(2);
globalThis.self = { location: { href: '' } }; // what the package expects of a worker
globalThis.WorkerGlobalScope = undefined;
const source = fs.readFileSync(path.join(packageFolder, 'es', 'TinyH264.js'));
const copy = path.join(fs.mkdtempSync('/tmp/h264bsd-'), 'decoder.mjs');
fs.writeFileSync(copy, source);
const lib = await (await import(pathToFileURL(copy).href)).default();

const PIC_RDY = 1, ERROR = 3;

// Access units begin at the first NAL unit after a slice that is no slice, or at a slice with
// first_mb_in_slice 0.
function accessUnits(data) {
    const starts = [];
    let seenSlice = false;
    for (let i = 0; i + 4 < data.length; i++) {
        if (data[i] || data[i + 1] || data[i + 2] !== 1) continue;
        const type = data[i + 3] & 31, slice = type === 1 || type === 5;
        const first = slice ? (data[i + 4] & 128) !== 0 : type >= 6 && type <= 9;
        const begins = seenSlice && first;
        if (!starts.length || begins) {
            starts.push(i && !data[i - 1] ? i - 1 : i);
            seenSlice = false;
        }
        seenSlice = seenSlice || slice;
        i += 3;
    }
    return starts.map((at, n) => data.subarray(at, starts[n + 1] ?? data.length));
}

function checksum(picture, codedWidth, codedHeight, width, height) {
    let sum = 0x811c9dc5, plane = 0;
    for (const half of [1, 2, 2]) {
        const stride = codedWidth / half;
        for (let y = 0; y < height / half; y++)
            for (let x = 0, at = plane + y * stride; x < width / half; x++)
                sum = Math.imul(sum ^ picture[at + x], 0x01000193) >>> 0;
        plane += stride * codedHeight / half;
    }
    return sum.toString(16).padStart(8, '0');
}

function decode(data, width, height) {
    const storage = lib._h264bsdAlloc(), sums = [];
    const out = [lib._malloc(4), lib._malloc(4), lib._malloc(4)];
    lib._h264bsdInit(storage, 1); // no reordering: a picture comes out at once
    for (const unit of accessUnits(data)) {
        const buffer = lib._malloc(unit.length);
        lib.HEAPU8.set(unit, buffer);
        const code = lib._h264bsdDecode(storage, buffer, unit.length, out[0], out[1], out[2]);
        lib._free(buffer);
        if (code >= ERROR) return [...sums, `error ${code}`];
        if (code !== PIC_RDY) continue;
        const [at, w, h] = out.map((pointer) => lib.getValue(pointer, 'i32'));
        sums.push(checksum(lib.HEAPU8.subarray(at, at + w * h * 3 / 2), w, h, width, height));
    }
    lib._h264bsdShutdown(storage);
    lib._h264bsdFree(storage);
    out.forEach((pointer) => lib._free(pointer));
    return sums;
}

let streams = 0, pictures = 0, failures = 0;
for (const name of fs.readdirSync(folder).filter((n) => n.endsWith('.264')).sort()) {
    const sums = path.join(folder, name.replace(/264$/, 'sums'));
    const lines = fs.readFileSync(sums, 'utf8').trim().split('\n');
    const [width, height] = lines[0].split(' ').map(Number), wanted = lines.slice(1);
    const got = decode(fs.readFileSync(path.join(folder, name)), width, height);
    streams++;
    pictures += wanted.length;
    if (got.join() === wanted.join()) continue;
    failures++;
    const first = wanted.findIndex((sum, i) => sum !== got[i]);
    console.log(`FAILED: ${name}: ${got.length} pictures of ${wanted.length}, the first that ` +
        `differs is ${first}: ${got[first]}`);
}
console.log(`h264bsd: ${streams} streams, ${pictures} pictures, ${failures} failures`);
process.exit(failures || !streams ? 1 : 0);
