// Texts and tables.
const mean = (list) => (list.length ? sum(list) / list.length : null);
const firstCoder = (report, kind) => report.coders.findIndex((c) => c.coder === kind);

// Returns the mean BD-rates over sequences: { psnr, ssim, n }.
function bdRate(sequences, anchor, test) {
  const rates = sequences.map((s) => s.bd_rate.find((b) => b.anchor === anchor && b.test === test))
                  .filter(Boolean);
  const known = (key) => rates.map((r) => r[key]).filter((v) => v !== null && v !== undefined);
  return { psnr: mean(known('psnr')), ssim: mean(known('ssim')), n: known('psnr').length };
}

// Returns frames a second of processor time over all points of an encoder.
function speed(report, coder) {
  let frames = 0, seconds = 0;
  for (const sequence of report.sequences)
    for (const point of sequence.rd)
      if (point.coder === coder && point.seconds)
        frames += sequence.frames, seconds += point.seconds;
  return seconds ? frames / seconds : null;
}

function drawHeader(report) {
  const settings = report.settings || {}, parts = [];
  if (report.motus) parts.push(`motus ${report.motus.version}`);
  if (report.x264) parts.push(`x264 ${report.x264.version}`);
  parts.push(`${report.sequences.length} sequence${report.sequences.length === 1 ? '' : 's'}`);
  if (settings.qps) parts.push(`QP ${settings.qps.join(', ')}`);
  const precision = settings.subpel === 'best' ? 'quarter' : settings.subpel;
  if (settings.range) parts.push(`range ±${settings.range}, ${precision} samples`);
  byId('about').textContent = parts.join(' · ');
  byId('incomplete').hidden = report.complete !== false;
  fill(
    byId('verdict'), (report.verdict || [])
                       .map((text) => element('p', null, text.replace(/(\d) %/g, `$1${THIN}%`))));
}

function tile(name, value, note) {
  return element('div', null, element('dt', null, name),
    element('dd', null, value, element('small', null, note)));
}

function drawTiles(report) {
  const total = report.total, tiles = [], x264 = firstCoder(report, 'x264'),
        motus = firstCoder(report, 'motus');
  if (total && total.blocks) {
    const share = (n) => percent(n, total.blocks);
    tiles.push(tile('Same vector', share(total.within[0]),
      `${share(total.within[2])} within ½ sample`));
    tiles.push(tile('Cost of our vectors', signedPercent(change(total.j.ours, total.j.x264)),
      `less in ${share(total.j.less)}, more in ${share(total.j.more)} of the blocks`));
  }
  if (x264 >= 0 && motus >= 0) {
    const rate = bdRate(report.sequences, x264, motus);
    if (rate.psnr !== null)
      tiles.push(tile('BD-rate, PSNR', signedPercent(rate.psnr),
        `${report.coders[motus].name} against ${report.coders[x264].name}`));
    const ours = speed(report, motus), theirs = speed(report, x264);
    const threads = (report.settings || {}).threads || 'all', machine = report.machine || {};
    if (ours && theirs)
      tiles.push(tile('Encoding', [fixed(ours, 1), element('span', { class: 'unit' }, ' frames/s')],
        `${machine.gpu ? 'on a GPU' : 'of processor time'}; ${report.coders[x264].name}: `
          + `${fixed(theirs, 1)}; threads: ${threads}`
          + (machine.busy ? '; the machine was busy' : '')));
  }
  if (total && total.epe)
    tiles.push(tile('From the true vector', `${fixed(total.epe.ours, 3)}`,
      `samples; x264’s: ${fixed(total.epe.x264, 3)}`));
  fill(byId('tiles'), tiles);
}

// ---- Summary ------------------------------------------------------------------------------------

const FIGURE_COLUMNS = 8;

// Returns two rows of heads: groups and columns, with `first` and `last` around the figures.
function figureHeads(first, last) {
  const gap = (n) => Array.from({ length: n }, () => td('', { class: 'gap' }));
  return [
    row([
      gap(first.length + 1), th('Vectors', { colspan: 2, class: 'group', scope: 'colgroup' }),
      th('Cost J of ours', { colspan: 5, class: 'group', scope: 'colgroup' }),
      last.length ? gap(last.length) : null
    ]),
    row([
      first.map((h) => th(h)),
      ['Blocks', 'the same', '≤ ½ sample', 'less', 'the same', 'more', 'sum', ''].map(
        (h) => th(h)),
      last.map((h) => th(h))
    ])
  ];
}

function figureCells(f) {
  if (!f) return Array.from({ length: FIGURE_COLUMNS }, () => td('–'));
  return [
    td(count(f.blocks)), td(percent(f.within[0], f.blocks)), td(percent(f.within[2], f.blocks)),
    td(percent(f.j.less, f.blocks), { class: 'ours' }), td(percent(f.j.same, f.blocks)),
    td(percent(f.j.more, f.blocks), { class: 'x264' }),
    td(signedPercent(change(f.j.ours, f.j.x264))),
    td(f.blocks ? shares(f.j.less, f.j.same, f.j.more) : '')
  ];
}

function drawSummary(report, choice, onChoose) {
  const body = element('tbody');
  for (const { sequence, run } of chosenRuns(report, { sequence: null, qp: null })) {
    const chosen = choice.sequence === sequence.name && choice.qp === run.qp;
    const button = element('button', { type: 'button', 'aria-pressed': chosen }, sequence.name);
    const line = element('tr',
      { 'data-sequence': sequence.name, 'data-qp': run.qp, class: chosen ? 'chosen' : null },
      rowHead(button), td(run.qp), figureCells(run.figures));
    line.addEventListener('click', () => onChoose(sequence.name, run.qp));
    body.append(line);
  }
  if (!body.children.length)
    body.append(row(td('Nothing was compared.', { colspan: FIGURE_COLUMNS + 2, class: 'text' })));
  const total = addFigures([report.total]);
  fill(byId('summary-table'), element('thead', null, figureHeads(['Sequence', 'QP'], [])), body,
    total ? element('tfoot', null, row([rowHead('All'), td(''), figureCells(total)])) : null);
}

// ---- Rate and distortion ------------------------------------------------------------------------

function drawBdTable(report, sequences) {
  const coders = report.coders.map((coder, index) => ({ ...coder, index }));
  const anchors = coders.filter((c) => c.coder === 'x264'),
        tests = coders.filter((c) => c.coder === 'motus');
  const table = byId('bd-table');
  if (!anchors.length || !tests.length)
    return fill(table, element('tbody', null,
                         row(td('Needs a setting of x264 and one of motus.', { class: 'text' }))));
  const cells = (test) => anchors.map((anchor) => {
    const rate = bdRate(sequences, anchor.index, test.index);
    return [td(signedPercent(rate.psnr)), td(signedPercent(rate.ssim))];
  });
  const caption = sequences.length > 1 ? `Mean of ${sequences.length} sequences`
                  : sequences.length ? sequences[0].name
                                     : '';
  return fill(table, element('caption', null, caption),
    element('thead', null, row([
      td('', { class: 'gap' }),
      anchors.map(
        (a) => th(`against ${a.name}`, { colspan: 2, class: 'group', scope: 'colgroup' }))
    ]),
      row([th('Setting'), anchors.map(() => [th('PSNR'), th('SSIM')])])),
    element(
      'tbody', null, tests.map((t) => row([rowHead(t.name, { class: 'ours' }), cells(t)]))));
}

function drawRdTable(report, sequence) {
  const heads =
    ['QP', 'Bytes', 'kb/s', 'PSNR, dB', 'SSIM', 'Processor s', 'Elapsed s', 'Frames/s'];
  const points = sequence ? [...sequence.rd].sort((a, b) => a.coder - b.coder || a.qp - b.qp) : [];
  const lines = points.map((p) => {
    const coder = report.coders[p.coder] || { name: '?' };
    return row([
      rowHead(coder.name, { class: coder.coder === 'motus' ? 'ours' : 'x264' }), td(p.qp),
      td(count(p.bytes)), td(fixed(p.kbps, 1)), td(fixed(p.psnr_y, 2)), td(fixed(p.ssim_y, 4)),
      td(fixed(p.seconds, 2)), td(fixed(p.elapsed, 2)), td(fixed(p.fps, 1))
    ]);
  });
  fill(byId('rd-table'), element('thead', null, row([th('Setting'), heads.map((h) => th(h))])),
    element('tbody', null, lines));
}

// ---- Vectors, partitions, bits ------------------------------------------------------------------

function drawSizes(sizes, total) {
  const line = (name, f, kind) => element('tr', { class: kind }, rowHead(name), figureCells(f),
    f && f.epe           ? [td(fixed(f.epe.ours, 3)), td(fixed(f.epe.x264, 3))]
    : total && total.epe ? [td('–'), td('–')]
                         : null);
  fill(byId('size-table'),
    element('thead', null,
      figureHeads(['Size'], total && total.epe ? ['from truth, samples', 'x264’s'] : [])),
    element('tbody', null,
      sizes.filter((s) => s.figures && s.figures.blocks).map((s) => line(times(s.size), s.figures)),
      line('All', total, 'sum')));
}

const times = (name) => name.replace('x', '×');

function drawMatrix(id, caption, matrix, corner) {
  const table = byId(id);
  if (!matrix || !sum(matrix.counts.flat()))
    return fill(table, element('caption', null, `${caption}: none here.`));
  const used =
    matrix.columns.map((_, c) => c).filter((c) => sum(matrix.counts.map((r) => r[c])) > 0);
  const body = matrix.rows.map((name, r) => {
    const all = sum(matrix.counts[r]);
    if (!all) return null;
    const same = (c) =>
      matrix.columns[c] === name || (name === 'skip' && matrix.columns[c] === '16x16');
    const cell = (c) => {
      const n = matrix.counts[r][c];
      const border = same(c) ? '; box-shadow: inset 0 0 0 1.5px var(--muted)' : '';
      return td([count(n), n ? element('small', null, percent(n, all, 0)) : null], {
        style: `background: rgba(var(--shade), ${(0.42 * n / all).toFixed(3)})${border}`,
        class: n ? null : 'empty-cell',
      });
    };
    return row([rowHead(times(name)), used.map(cell), td(count(all))]);
  });
  const rows = matrix.rows.filter((_, r) => sum(matrix.counts[r]) > 0);
  if (used.length === 1 && rows.length === 1)
    return fill(table, element('caption', null,
      `${caption}: all ${count(sum(matrix.counts.flat()))} are ${times(rows[0])} with x264 and `
        + `${times(matrix.columns[used[0]])} with motus.`));
  return fill(table, element('caption', null, caption),
    element(
      'thead', null, row([th(corner), used.map((c) => th(times(matrix.columns[c]))), th('All')])),
    element('tbody', null, body));
}

// Draws the bits of both streams, over all chosen runs.
function drawBits(runs, report) {
  const table = byId('bits-table'), some = runs.map((r) => r.run.bits).filter(Boolean);
  if (!some.length)
    return fill(table, element('tbody', null, row(td('No streams here.', { class: 'text' }))));
  const motus = report.coders[firstCoder(report, 'motus')],
        x264 = report.coders[firstCoder(report, 'x264')];
  const coders = [
    ['x264', x264 ? x264.name : 'x264', 'x264'], ['motus', motus ? motus.name : 'motus', 'ours']
  ].map(([key, name,
    kind]) => ({ name, kind, bits: addKeys(some.map((b) => b[key]), BIT_KINDS) }));
  const most = Math.max(1, ...coders.map((c) => sum(Object.values(c.bits))));
  const bar = (bits) =>
    element('div', { class: 'bar', 'aria-hidden': 'true' }, BIT_KINDS.map((k) => element('span', {
      class: `part-${k}`,
      style: `width:${100 * bits[k] / most}%`,
      title: `${BIT_NAMES[k]}: ${count(bits[k])} bits`
    })));
  const key = (k) => element('span', { class: `key part-${k}`, style: 'color:transparent' });
  return fill(table, element('thead', null, row([
    th('Stream'), BIT_KINDS.map((k) => th([key(k), BIT_NAMES[k]], { colspan: 2 })),
    th('All, bits'), th('', { 'aria-hidden': 'true' })
  ])),
    element('tbody', null, coders.map(({ name, kind, bits }) => {
      const all = sum(Object.values(bits));
      return row([
        rowHead(name, { class: kind }),
        BIT_KINDS.map((k) => [td(count(bits[k])), td(percent(bits[k], all), { class: 'muted' })]),
        td(count(all)), td(bar(bits))
      ]);
    })));
}

// ---- Method -------------------------------------------------------------------------------------

function drawHow(report) {
  const entries = (report.how || []).map((h) => [h.topic, h.text]),
        runs = chosenRuns(report, { sequence: null, qp: null }).map((r) => r.run);
  const read = addKeys(runs.map((r) => r.extraction), ['compared', 'equal', 'only_here']);
  const inside = report.total && report.total.window;
  const numbers = [];
  if (read.compared)
    numbers.push(`Parser and libavcodec agree on ${count(read.equal)} of ${count(read.compared)} `
      + `blocks; ${count(read.only_here)} smaller ones only the parser has. `);
  if (inside)
    numbers.push(`x264’s vector is inside our window in ${count(inside.inside)} of `
      + `${count(report.total.blocks)} blocks; in ${count(inside.worse)} ours costs more.`);
  if (numbers.length) entries.push(['In numbers', numbers]);
  const lacking = report.sequences.filter((s) => gapsOf(report, s).length);
  if (lacking.length)
    entries.push(['Left out of this page', [
      lacking.map((s) => `${s.name}: ${gapsOf(report, s).map(gapWords).join(', ')}. `), KEEP_ALL
    ]]);
  fill(byId('how'),
    entries.map(([topic, text]) => [element('dt', null, topic), element('dd', null, text)]));
  const settings = [['Command', element('code', null, report.command || '–')]];
  for (const coder of report.coders)
    settings.push([coder.name, element('code', null, coder.args || '(defaults)')]);
  const { motus, x264 } = report;
  if (motus)
    settings.push(['motus', `${motus.version}, ${motus.cpu || ''} ${motus.instructions || ''}`]);
  if (x264) settings.push(['x264', `${x264.version} (${x264.path || 'x264'})`]);
  for (const s of report.sequences) {
    const rate = s.fps ? `, ${fixed(s.fps[0] / s.fps[1], 2)} frames/s` : '';
    const size = `${s.width}×${s.height}, ${count(s.frames)} frames${rate}`;
    settings.push([s.name, `${s.file || ''}, ${size}`]);
  }
  fill(byId('settings'),
    settings.map(([name, value]) => [element('dt', null, name), element('dd', null, value)]));
}
