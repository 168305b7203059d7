// Curves and histograms, drawn by uPlot. Tables of the page repeat the numbers of every chart.
const charts = new Map(); // by the id of its element

// Draws a chart; options(width) returns uPlot's options, `words` is its text alternative.
function plot(id, options, data, words) {
  const place = byId(id), old = charts.get(id);
  place.style.minHeight = `${place.offsetHeight}px`; // keeps the page from jumping
  if (old) old.chart.destroy();
  place.replaceChildren();
  const width = Math.max(place.clientWidth, 120);
  charts.set(
    id, { chart: new uPlot({ ...options(width), width }, data, place), options, data, words });
  place.setAttribute('role', 'img');
  place.setAttribute('aria-label', words);
  for (const canvas of place.querySelectorAll('canvas')) canvas.setAttribute('aria-hidden', 'true');
  queueMicrotask(() => { place.style.minHeight = ''; });
  return charts.get(id).chart;
}

function emptyChart(id, text) {
  if (charts.has(id)) charts.get(id).chart.destroy(), charts.delete(id);
  byId(id).removeAttribute('role');
  byId(id).removeAttribute('aria-label');
  fill(byId(id), element('p', { class: 'empty' }, text));
}

// Draws all charts again after a change of width or colours.
function redrawCharts() {
  for (const [id, { options, data, words }] of [...charts]) plot(id, options, data, words);
}

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

function axis(more) {
  return {
    stroke: css('--muted'),
    font: FONT,
    grid: { stroke: css('--line'), width: 1 },
    ticks: { show: false },
    gap: 6,
    ...more
  };
}

// ---- Rate and distortion ------------------------------------------------------------------------

const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2]];
const coderColor = (coder) => css(coder.coder === 'motus' ? '--ours' : '--x264');

// Gives the n-th setting of each encoder the n-th dash.
function coderStyles(report) {
  const seen = {};
  return report.coders.map((coder) => {
    seen[coder.coder] = (seen[coder.coder] ?? -1) + 1;
    return { coder, dash: DASHES[seen[coder.coder] % DASHES.length] };
  });
}

function drawLegend(report) {
  const line = ({ coder, dash }) => {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const color = coderColor(coder), attributes = { width: 34, height: 10, 'aria-hidden': 'true' };
    for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
    svg.innerHTML = `<path d="M1 5H33" stroke="${color}" stroke-width="2" `
      + `stroke-dasharray="${dash.join(' ')}"/><circle cx="17" cy="5" r="3.2" fill="${color}"/>`;
    return element('li', null, svg, coder.name);
  };
  fill(byId('rd-legend'), coderStyles(report).map(line));
}

// Returns 1, 2, 5, 10, 20, ... within a scale.
function roundNumbers(u, i, min, max) {
  const list = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power++)
    for (const first of [1, 2, 5])
      if (first * 10 ** power >= min && first * 10 ** power <= max) list.push(first * 10 ** power);
  return list.length > 1 ? list : [min, max].map((v) => Number(v.toPrecision(2)));
}

// Describes the point nearest to the pointer.
function tellNearest(u, curves, key, digits) {
  const { left, top } = u.cursor;
  let best = null, least = 40 * 40;
  if (left === undefined || left < 0) return '';
  for (const curve of curves)
    for (const p of curve.points) {
      const d = (u.valToPos(p.kbps, 'x') - left) ** 2 + (u.valToPos(p[key], 'y') - top) ** 2;
      if (d < least) {
        least = d;
        const value = fixed(p[key], digits);
        best = `${curve.coder.name}, QP ${p.qp}: ${fixed(p.kbps, 1)} kb/s, ${value}`;
      }
    }
  return best || '';
}

function drawCurve(id, curves, key, unit, digits) {
  const shown = curves.filter((c) => c.points.some((p) => p[key] !== null && p[key] !== undefined));
  if (!shown.length) return emptyChart(id, 'No encodes of this sequence.');
  const columns = shown.map(({ points }) => [points.map((p) => p.kbps), points.map((p) => p[key])]);
  const margin = (min, max) => 0.06 * (max - min || 1);
  const yDigits = (y) => (digits > 3 ? 2 : y % 1 ? 1 : 0);
  const tell = (u) => {
    const text = tellNearest(u, shown, key, digits);
    byId('rd-readout').textContent = text && `${text}${unit}`;
  };
  const options = (width) => ({
    height: Math.round(Math.min(330, Math.max(220, width * 0.62))),
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, distr: 3, range: (u, min, max) => [min / 1.15, max * 1.15] },
      y: { range: (u, min, max) => [min - margin(min, max), max + margin(min, max)] },
    },
    axes: [
      axis({
        splits: roundNumbers,
        values: (u, v) => v.map((x) => (x >= 1 ? count(x) : String(x))),
        label: 'kb/s',
        labelFont: FONT,
        labelSize: 20,
        size: 30,
        filter: (u, splits) => splits,
      }),
      axis({ size: digits > 3 ? 56 : 46, values: (u, v) => v.map((y) => fixed(y, yDigits(y))) }),
    ],
    series: [{}, ...shown.map((c) => ({
      stroke: () => coderColor(c.coder),
      width: 2,
      dash: c.dash,
      spanGaps: true,
      points: { show: true, size: 7, fill: coderColor(c.coder) },
    }))],
    hooks: { setCursor: [tell] },
  });
  const names = shown.map((c) => c.coder.name).join(', ');
  return plot(id, options, uPlot.join(columns),
    `${key === 'psnr_y' ? 'PSNR' : 'SSIM'} against kb/s of ${names}; a table has the numbers`);
}

function drawCurves(report, sequence) {
  const curves = coderStyles(report).map(({ coder, dash }, index) => ({
    coder,
    dash,
    points: (sequence ? sequence.rd : [])
               .filter((p) => p.coder === index && p.kbps > 0)
               .sort((a, b) => a.kbps - b.kbps),
  }));
  drawLegend(report);
  drawCurve('rd-psnr', curves, 'psnr_y', ' dB', 2);
  drawCurve('rd-ssim', curves, 'ssim_y', '', 4);
}

// ---- Histograms ---------------------------------------------------------------------------------

// Draws bars with their heights in percent above them.
function drawBars(id, labels, values, colors, all) {
  const x = labels.map((_, i) => i), kinds = [...new Set(colors)];
  const share = values.map((v) => 100 * v / all);
  const data = [x, ...kinds.map((kind) => share.map((v, i) => (colors[i] === kind ? v : null)))];
  const write = (u) => {
    const { ctx } = u, ratio = devicePixelRatio;
    ctx.save();
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.fillStyle = css('--ink');
    ctx.textAlign = 'center';
    share.forEach((v, i) => {
      const text = v === 0 ? '' : v < 0.1 ? '<.1' : v < 9.95 ? v.toFixed(1) : v.toFixed(0);
      ctx.fillText(text, u.valToPos(i, 'x', true), u.valToPos(v, 'y', true) - 4 * ratio);
    });
    ctx.restore();
  };
  const options = (width) => ({
    height: 240,
    legend: { show: false },
    cursor: { show: false },
    padding: [16, 4, 0, 4],
    scales: {
      x: { time: false, range: [-0.6, labels.length - 0.4] },
      y: { range: (u, min, max) => [0, Math.max(1, max * 1.08)] }
    },
    axes: [
      axis({
        splits: x,
        values: () => labels.map((l, i) => (width < 380 && labels.length > 9 && i % 2 ? '' : l)),
        grid: { show: false },
        size: 30,
        font: FONT.replace('12px', '11px')
      }),
      axis({ size: 40, values: (u, v) => v.map((y) => `${y}`) })
    ],
    series: [
      {}, ...kinds.map((kind) => ({
        fill: () => css(kind),
        stroke: () => css(kind),
        width: 0,
        paths: uPlot.paths.bars({ size: [0.8, 64] }),
        points: { show: false }
      }))
    ],
    hooks: { draw: [write] },
  });
  return plot(
    id, options, data, labels.map((l, i) => `${l}: ${percent(values[i], all)}`).join('; '));
}

const QUARTERS = { 0: '0', 1: '¼', 2: '½', 4: '1', 8: '2', 16: '4', 32: '8', 64: '16' };

function drawDistance(figures) {
  const d = figures && figures.distance;
  if (!d || !figures.blocks) return emptyChart('hist-distance', 'No blocks with a vector of both.');
  const name = (edge) => QUARTERS[edge] || samples(edge);
  const label = (i) => (i < d.edges.length ? `≤${name(d.edges[i])}` : `>${name(d.edges[i - 1])}`);
  const labels = d.counts.map((_, i) => (i === 0 ? 'same' : label(i)));
  return drawBars('hist-distance', labels, d.counts, d.counts.map(() => '--same'), figures.blocks);
}

function drawDifference(figures) {
  const d = figures && figures.difference;
  if (!d || !figures.blocks) return emptyChart('hist-j', 'No blocks with a cost of both.');
  const isBelow = (i) => i < d.edges.length && d.edges[i] <= 0;
  const label = (i) => (isBelow(i) ? fixed(d.edges[i], 0) : signed(d.edges[i - 1] + 1, 0));
  const labels = d.counts.map((_, i) => label(i)); // the ends nearer to 0
  const color = (i) => (d.edges[i] === 0 ? '--same' : isBelow(i) ? '--ours' : '--x264');
  return drawBars('hist-j', labels, d.counts, d.counts.map((_, i) => color(i)), figures.blocks);
}

// ---- Bits a frame -------------------------------------------------------------------------------

// Draws bits a frame. at() returns the current frame; onFrame(n) is called when one is chosen.
function drawTimeline(run, at, onFrame) {
  const frames = (run ? run.frames || [] : []).filter((f) => f.bits);
  if (frames.length < 2) return emptyChart('timeline', 'No frames to draw.');
  const total = (coder) =>
    frames.map((f) => (f.bits[coder] ? sum(BIT_KINDS.map((k) => f.bits[coder][k])) : null));
  const mark = (u) => {
    const x = u.valToPos(at(), 'x', true);
    u.ctx.save();
    u.ctx.strokeStyle = css('--ink');
    u.ctx.lineWidth = devicePixelRatio;
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top), u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  };
  const line = (color, dash) =>
    ({ stroke: () => css(color), width: 1.5, points: { show: false }, dash });
  const choose = (u) => { if (u.cursor.idx !== null) onFrame(frames[u.cursor.idx].n); };
  const options = () => ({
    height: 120,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
    scales: { x: { time: false }, y: { distr: 3, range: (u, min, max) => [min / 1.3, max * 1.3] } },
    axes: [
      axis({ size: 24, values: (u, v) => v.map((x) => (Number.isInteger(x) ? String(x) : '')) }),
      axis({
        size: 56,
        splits: roundNumbers,
        filter: (u, splits) => splits,
        values: (u, v) => v.map((y) => (y >= 1e6 ? `${y / 1e6}M` : y >= 1000 ? `${y / 1000}k` : y)),
      }),
    ],
    series: [{}, line('--x264', [5, 3]), line('--ours', [])],
    hooks: { draw: [mark], ready: [(u) => u.over.addEventListener('click', () => choose(u))] },
  });
  return plot('timeline', options, [frames.map((f) => f.n), total('x264'), total('motus')],
    'Bits a frame of x264 and motus');
}
