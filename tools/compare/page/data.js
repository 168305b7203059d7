// The report's data: reading, adding up, unpacking. Missing values are left out, never guessed.
const EMPTY_COST = { less: 0, same: 0, more: 0, ours: 0, x264: 0, gain: 0, loss: 0 };
const COSTS = ['sad', 'satd', 'j'];
const TYPES = ['P_Skip', '16x16', '16x8', '8x16', '8x8', 'I4x4', 'I16x16', 'PCM'];
const SUB_TYPES = ['8x8', '8x4', '4x8', '4x4'];
const BIT_KINDS = ['header', 'mode', 'mv', 'residual'];
const BIT_NAMES = { header: 'headers', mode: 'modes', mv: 'vectors', residual: 'residual' };

function loadReport() {
  const report = JSON.parse(document.getElementById('motus-data').textContent);
  if (report.format !== 'motus-compare') throw new Error('the data are none of motus compare');
  if (report.version !== 1)
    throw new Error(`the data have version ${report.version}; this page reads version 1`);
  report.sequences = report.sequences || [];
  report.coders = report.coders || [];
  const seen = {};
  for (const sequence of report.sequences) {
    const times = (seen[sequence.name] = (seen[sequence.name] || 0) + 1);
    if (times > 1) sequence.name += ` (${times})`; // several files of one name
    sequence.runs = sequence.runs || [];
    sequence.rd = sequence.rd || [];
    sequence.bd_rate = sequence.bd_rate || [];
    sequence.pictures = sequence.pictures || [];
  }
  return report;
}

const sum = (list) => list.reduce((a, b) => a + (b || 0), 0);
const addLists = (lists) => lists.reduce((a, b) => b.map((v, i) => v + (a[i] || 0)), []);

function addKeys(objects, keys) {
  return Object.fromEntries(keys.map((key) => [key, sum(objects.map((o) => (o ? o[key] : 0)))]));
}

// Adds up the figures of several runs; null if there are none.
function addFigures(list) {
  const all = list.filter((f) => f && f.blocks !== undefined);
  if (!all.length) return null;
  const figures = {
    blocks: sum(all.map((f) => f.blocks)),
    within: addLists(all.map((f) => f.within || []))
  };
  for (const cost of COSTS)
    figures[cost] = addKeys(all.map((f) => f[cost] || EMPTY_COST), Object.keys(EMPTY_COST));
  for (const name of ['distance', 'difference']) {
    const some = all.filter((f) => f[name]);
    figures[name] =
      some.length
        ? { edges: some[0][name].edges, counts: addLists(some.map((f) => f[name].counts)) }
        : null;
  }
  figures.window = addKeys(all.map((f) => f.window), ['inside', 'worse']);
  const known = all.map((f) => f.epe).filter((e) => e && e.blocks);
  const blocks = sum(known.map((e) => e.blocks));
  figures.epe = blocks ? {
    blocks,
    ours: sum(known.map((e) => e.ours * e.blocks)) / blocks,
    x264: sum(known.map((e) => e.x264 * e.blocks)) / blocks,
  } : null;
  return figures;
}

// Adds up the figures by block size of several runs.
function addSizes(lists) {
  const sizes = [];
  for (const list of lists.filter(Boolean))
    for (const figures of list) if (!sizes.includes(figures.size)) sizes.push(figures.size);
  return sizes.map((size) => ({
    size,
    figures: addFigures(lists.filter(Boolean).map((list) => list.find((f) => f.size === size))),
  }));
}

function addMatrices(list) {
  const all = list.filter((m) => m && m.counts);
  if (!all.length) return null;
  return {
    rows: all[0].rows,
    columns: all[0].columns,
    counts: all[0].rows.map((_, row) => addLists(all.map((m) => m.counts[row]))),
  };
}

// Returns the chosen sequences and runs; a sequence or qp of null means all.
function chosenRuns(report, choice) {
  const runs = [];
  for (const sequence of report.sequences) {
    if (choice.sequence !== null && sequence.name !== choice.sequence) continue;
    for (const run of sequence.runs)
      if (choice.qp === null || run.qp === choice.qp) runs.push({ sequence, run });
  }
  return runs;
}

// ---- Frames that the page lacks -----------------------------------------------------------------

const KEEP_ALL = 'motus compare --page-mb 0 keeps them.';

// Describes a gap: "vectors at QP 27 of frames 83 to 299".
function gapWords(gap) {
  const frames = gap.frames === 1 ? `frame ${gap.first}` : `frames ${gap.first} to ${gap.last}`;
  return gap.qp === null ? `the pictures of ${frames}` : `the vectors at QP ${gap.qp} of ${frames}`;
}

// Returns the gaps of a sequence, and of one run if it is given.
const gapsOf = (report, sequence, run) => ((report.viewer || {}).gaps || []).filter((gap) =>
  report.sequences[gap.sequence] === sequence && (!run || gap.qp === null || gap.qp === run.qp));

// ---- Macroblocks of a frame ---------------------------------------------------------------------

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new DataView(await new Response(stream).arrayBuffer());
}

// Returns the blocks of a macroblock in coding order, in samples from its corner.
function partition(type, sub) {
  const block = (x, y, w, h) => ({ x, y, w, h });
  if (type <= 1) return [block(0, 0, 16, 16)];
  if (type === 2) return [block(0, 0, 16, 8), block(0, 8, 16, 8)];
  if (type === 3) return [block(0, 0, 8, 16), block(8, 0, 8, 16)];
  if (type !== 4) return [];
  const blocks = [];
  for (let q = 0; q < 4; q++) {
    const kind = (sub >> (2 * q)) & 3, w = kind & 2 ? 4 : 8, h = kind & 1 ? 4 : 8;
    for (let y = 0; y < 8; y += h)
      for (let x = 0; x < 8; x += w) blocks.push(block((q & 1) * 8 + x, (q >> 1) * 8 + y, w, h));
  }
  return blocks;
}

class Reader {
  constructor(view) { this.view = view; this.at = 0; }
  u8() { return this.view.getUint8(this.at++); }
  u16() { this.at += 2; return this.view.getUint16(this.at - 2, true); }
  i16() { this.at += 2; return this.view.getInt16(this.at - 2, true); }
  mv() { return [this.i16(), this.i16()]; }
}

function readBits(r) { return { mode: r.u16(), mv: r.u16(), residual: r.u16() }; }

// Reads one macroblock; j(block) returns the cost from its distortion and bits.
function readMb(r, j) {
  const mb = {
    x264Type: r.u8(),
    x264Sub: r.u8(),
    ownType: r.u8(),
    ownSub: r.u8(),
    motusType: r.u8(),
    motusSub: r.u8()
  };
  mb.x264Bits = readBits(r);
  mb.motusBits = readBits(r);
  mb.predictor = r.mv();
  mb.blocks = partition(mb.x264Type, mb.x264Sub);
  for (const b of mb.blocks) {
    b.x264 = { mv: r.mv() }, b.ours = { mv: r.mv() };
    b.x264.sad = r.u16(), b.ours.sad = r.u16(), b.x264.satd = r.u16(), b.ours.satd = r.u16();
    b.x264.bits = r.u8(), b.ours.bits = r.u8();
    b.x264.j = j(b.x264), b.ours.j = j(b.ours);
  }
  mb.own = partition(mb.ownType, mb.ownSub);
  const intra = mb.x264Type >= 5;
  for (const b of mb.own) {
    b.ours = { mv: r.mv() }, b.x264 = {};
    b.x264.sad = r.u16(), b.ours.sad = r.u16(), b.x264.satd = r.u16(), b.ours.satd = r.u16();
    b.ours.bits = r.u8();
    b.ours.j = j(b.ours);
    if (intra) b.x264 = null;
  }
  return mb;
}

// Returns the distortion in J.
const criterionOf = (report) =>
  (report.settings && report.settings.criterion === 'sad' ? 'sad' : 'satd');

async function unpackFrame(report, sequence, run, frame) {
  if (!frame || !frame.mbs) return null;
  const r = new Reader(await inflate(frame.mbs)), mbs = [], criterion = criterionOf(report);
  const j = (b) => b[criterion] + Math.floor(run.lambda_q8 * b.bits / 256);
  for (let i = 0; i < sequence.mb_width * sequence.mb_height; i++)
    mbs.push({ ...readMb(r, j), criterion });
  return mbs;
}
