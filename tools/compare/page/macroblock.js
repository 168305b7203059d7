// Tables of one macroblock's numbers.
const typeName = (type, sub) => {
  if (type !== 4) return times(TYPES[type] || '?');
  const subs = [0, 1, 2, 3].map((q) => (sub >> (2 * q)) & 3);
  return subs.every((s) => s === 0) ? '8×8'
                                    : `8×8 (${subs.map((s) => times(SUB_TYPES[s])).join(' ')})`;
};

function pairTable(heads, lines) {
  return element('div', { class: 'scroll' },
    element('table', null,
      element('thead', null,
        row(heads.map((h, i) => th(h, { class: i === 1   ? 'x264'
                                                : i === 2 ? 'ours'
                                                          : null })))),
      element('tbody', null, lines.map(([name, x264, ours, key]) => row([
        rowHead(name), td(x264, { 'data-key': key ? `${key}-x264` : null }),
        td(ours, { 'data-key': key ? `${key}-ours` : null })
      ])))));
}

// Returns x264's vector if it has only one in the block.
function vectorOver(mb, b) {
  const over = mb.blocks.find(
    (o) => o.x <= b.x && o.y <= b.y && o.x + o.w >= b.x + b.w && o.y + o.h >= b.y + b.h);
  return over ? over.x264.mv : null;
}

// A text that is not divided at the end of a line.
const together = (text) => element('span', { class: 'together' }, text);
const vectorCell = (mv) => [together(`${samples(mv[0])},`), ' ', together(samples(mv[1]))];

// Lists blocks with both vectors; Δ is ours minus x264's. Cells are divided where they must.
function blockTable(blocks, key, criterion) {
  const lines = blocks.map((b, i) => row([
    rowHead([`${b.w}×${b.h} `, together(`at ${b.x}, ${b.y}`)]),
    td(b.x264 && b.x264.mv ? vectorCell(b.x264.mv) : '–',
      { class: 'x264', 'data-key': `${key}-${i}-mv-x264` }),
    td(vectorCell(b.ours.mv), { class: 'ours', 'data-key': `${key}-${i}-mv-ours` }),
    td(b.x264
         ? signed(key === 'block' ? b.ours.j - b.x264.j : b.ours[criterion] - b.x264[criterion], 0)
         : '–',
      { 'data-key': `${key}-${i}-difference` })
  ]));
  return element('div', { class: 'scroll' },
    element('table', null, element('thead', null, row([
      th('Block'), th('x264', { class: 'x264' }), th('ours', { class: 'ours' }),
      th(key === 'block' ? together('Δ J') : ['Δ', element('br'), criterion.toUpperCase()])
    ])),
      element('tbody', null, lines)));
}

function describeMb(mb) {
  const h4 = (text) => element('h4', null, text), { criterion } = mb;
  const total = (blocks, who, what) => sum(blocks.map((b) => (b[who] ? b[who][what] : 0)));
  const on =
    (blocks, what) => [total(blocks, 'x264', what), total(blocks, 'ours', what)].map(count);
  const parts = [];
  if (mb.blocks.length) {
    parts.push(h4(`On x264’s blocks, ${typeName(mb.x264Type, mb.x264Sub)}`),
      pairTable(['Cost', 'x264', 'ours'],
        [
          ['J', ...on(mb.blocks, 'j'), 'j'], ['SATD', ...on(mb.blocks, 'satd'), 'satd'],
          ['SAD', ...on(mb.blocks, 'sad'), 'sad'],
          ['Vector bits', ...on(mb.blocks, 'bits'), 'bits']
        ]),
      blockTable(mb.blocks, 'block', criterion));
  } else {
    parts.push(element('p', { class: 'muted' },
      `x264 codes it as ${typeName(mb.x264Type, mb.x264Sub)}: no vectors to compare.`));
  }
  if (mb.own.length) {
    const intra = mb.own.some((b) => !b.x264),
          own = (what) => (intra ? ['–', count(total(mb.own, 'ours', what))] : on(mb.own, what));
    parts.push(h4(`On our blocks, ${typeName(mb.ownType, mb.ownSub)}`),
      pairTable(['Cost', 'x264', 'ours'],
        [
          ['SATD', ...own('satd'), 'own-satd'], ['SAD', ...own('sad'), 'own-sad'],
          ['J', '–', count(total(mb.own, 'ours', 'j')), 'own-j']
        ]),
      blockTable(
        mb.own.map((b) => ({ ...b, x264: b.x264 && { ...b.x264, mv: vectorOver(mb, b) } })), 'own',
        criterion));
  }
  const all = (bits) => sum(Object.values(bits));
  parts.push(h4('As the two encoders coded it, bits'), pairTable(['', 'x264', 'motus'], [
    ['Type', typeName(mb.x264Type, mb.x264Sub), typeName(mb.motusType, mb.motusSub), 'type'],
    ...['mode', 'mv', 'residual'].map(
      (k) => [BIT_NAMES[k], count(mb.x264Bits[k]), count(mb.motusBits[k]), `coded-${k}`]),
    ['all', count(all(mb.x264Bits)), count(all(mb.motusBits)), 'coded']
  ]));
  parts.push(element('p', { class: 'muted' },
    `Bits of both vectors count from x264’s predictor, ${vector(mb.predictor)}. `
      + 'Vectors in samples.'));
  return parts;
}
