// Overlays of a picture. The context is scaled to samples.
// Both colours are bright enough for any picture.
const OVER = { ours: '#4fc1ff', x264: '#ff9a2e', same: '#e4e4e0', halo: 'rgba(0, 0, 0, 0.7)' };

function eachMb(sequence, mbs, draw) {
  mbs.forEach(
    (mb, i) => draw(mb, 16 * (i % sequence.mb_width), 16 * Math.floor(i / sequence.mb_width)));
}

// Draws an arrow from where the block was to its centre, wider by `halo` all around; a dot at rest.
// A head takes at most half of the arrow; a shorter arrow is a head alone.
function drawVector(ctx, { x, y, mv }, stretch, width, color, halo) {
  const dx = mv[0] / 4 * stretch, dy = mv[1] / 4 * stretch, length = Math.hypot(dx, dy);
  ctx.strokeStyle = ctx.fillStyle = color;
  ctx.beginPath();
  if (!length) {
    ctx.arc(x, y, width * 0.72 + halo, 0, 2 * Math.PI);
    ctx.fill();
    return;
  }
  const head = Math.min(Math.max(length / 2, 2 * width), 5 * width), half = head / 2.2;
  const [ux, uy] = [dx / length, dy / length], [hx, hy] = [x + head * ux, y + head * uy];
  if (length > head) {
    ctx.lineWidth = width + 2 * halo;
    ctx.moveTo(x + dx, y + dy);
    ctx.lineTo(hx, hy);
    ctx.stroke();
    ctx.beginPath();
  }
  ctx.moveTo(x, y);
  ctx.lineTo(hx - half * uy, hy + half * ux);
  ctx.lineTo(hx + half * uy, hy - half * ux);
  ctx.closePath();
  ctx.fill();
  ctx.lineWidth = 2 * halo;
  if (halo) ctx.stroke();
}

// Returns the vectors to draw: { x, y, mv, kind }; kind is "same" if both sides have the same one.
function vectorsOf(sequence, mbs, view) {
  const list = [], own = ownBlocks(view), both = view.vectors === 'both' && !own;
  eachMb(sequence, mbs, (mb, left, top) => {
    const put = (b, mv, kind) =>
      list.push({ x: left + b.x + b.w / 2, y: top + b.y + b.h / 2, mv, kind });
    for (const b of mb.blocks) {
      const same = both && b.ours.mv[0] === b.x264.mv[0] && b.ours.mv[1] === b.x264.mv[1];
      if (view.vectors !== 'ours') put(b, b.x264.mv, same ? 'same' : 'x264');
      if (view.vectors !== 'x264' && !own && !same) put(b, b.ours.mv, 'ours');
    }
    if (view.vectors !== 'x264' && own) for (const b of mb.own) put(b, b.ours.mv, 'ours');
  });
  return list;
}

// Draws the vectors; `unit` is samples a CSS pixel. Lines are thinner if macroblocks are small.
// Equal vectors are grey.
function drawVectors(ctx, sequence, mbs, view, unit) {
  const line = unit * Math.max(0.5, Math.min(1.25, 0.65 / unit)),
        list = vectorsOf(sequence, mbs, view);
  const widths = { same: 1.3, x264: 2, ours: 2 };
  ctx.lineCap = ctx.lineJoin = 'round';
  for (const v of list)
    drawVector(ctx, v, view.stretch, widths[v.kind] * line, OVER.halo, 0.65 * line);
  for (const kind of ['same', 'x264', 'ours'])
    for (const v of list)
      if (v.kind === kind) drawVector(ctx, v, view.stretch, widths[kind] * line, OVER[kind], 0);
}

const ownBlocks = (view) => view.outlines === 'own' || view.heat === 'own';

function drawOutlines(ctx, sequence, mbs, kind, unit) {
  ctx.lineWidth = unit;
  eachMb(sequence, mbs, (mb, left, top) => {
    const type = kind === 'x264' ? mb.x264Type : kind === 'motus' ? mb.motusType : mb.ownType;
    const blocks = kind === 'x264'  ? mb.blocks
                   : kind === 'own' ? mb.own
                                    : partition(mb.motusType, mb.motusSub);
    if (type >= 5) { // intra
      ctx.fillStyle = 'rgba(255, 255, 255, 0.28)';
      ctx.fillRect(left, top, 16, 16);
    }
    ctx.strokeStyle =
      type === 0 ? 'rgba(255, 255, 255, 0.22)' : `rgba(255, 255, 255, ${unit > 0.8 ? 0.5 : 0.75})`;
    for (const b of blocks.length ? blocks : [{ x: 0, y: 0, w: 16, h: 16 }])
      ctx.strokeRect(left + b.x + unit / 2, top + b.y + unit / 2, b.w, b.h);
  });
}

// Returns the heat of a macroblock: below 0 if ours costs less; null if there is nothing to
// compare.
function heatOf(mb, kind) {
  if (kind === 'j') return mb.blocks.length ? sum(mb.blocks.map((b) => b.ours.j - b.x264.j)) : null;
  if (kind === 'own')
    return mb.own.some((b) => !b.x264)
             ? null
             : sum(mb.own.map((b) => b.ours[mb.criterion] - b.x264[mb.criterion]));
  return sum(Object.values(mb.motusBits)) - sum(Object.values(mb.x264Bits));
}

// Returns a power of two that 90 % of the macroblocks stay below.
function heatScale(mbs, kind) {
  const values =
    mbs.map((mb) => Math.abs(heatOf(mb, kind) || 0)).filter((v) => v > 0).sort((a, b) => a - b);
  const high = values.length ? values[Math.floor(0.9 * (values.length - 1))] : 1;
  return 2 ** Math.ceil(Math.log2(Math.max(high, 16)));
}

function drawHeat(ctx, sequence, mbs, kind, scale, strength) {
  eachMb(sequence, mbs, (mb, left, top) => {
    const value = heatOf(mb, kind);
    if (!value) return;
    ctx.globalAlpha = strength * (0.2 + 0.8 * Math.min(1, Math.abs(value) / scale));
    ctx.fillStyle = value < 0 ? OVER.ours : OVER.x264;
    ctx.fillRect(left, top, 16, 16);
  });
  ctx.globalAlpha = 1;
}

// Draws a frame; image and mbs are null if they were left out.
function drawFrame(ctx, sequence, image, mbs, view, unit, scale) {
  ctx.fillStyle = '#4a4a4a';
  ctx.fillRect(0, 0, sequence.width, sequence.height);
  ctx.imageSmoothingEnabled = unit > 0.6;
  if (image) ctx.drawImage(image, 0, 0, sequence.width, sequence.height);
  if (mbs) {
    const busy = view.vectors !== 'none' || view.outlines !== 'none' || view.heat !== 'none';
    ctx.fillStyle = 'rgba(0, 0, 0, 0.28)';
    if (busy && image) ctx.fillRect(0, 0, sequence.width, sequence.height);
    if (view.heat !== 'none')
      drawHeat(ctx, sequence, mbs, view.heat, scale, view.vectors === 'none' ? 0.85 : 0.55);
    if (view.outlines !== 'none') drawOutlines(ctx, sequence, mbs, view.outlines, unit);
    if (view.vectors !== 'none') drawVectors(ctx, sequence, mbs, view, unit);
  }
}

// Draws the border of the current macroblock.
function drawMark(ctx, sequence, n, unit) {
  const left = 16 * (n % sequence.mb_width), top = 16 * Math.floor(n / sequence.mb_width);
  for (const [color, width] of [['#000', 4], ['#fff', 2]]) {
    ctx.strokeStyle = color;
    ctx.lineWidth = width * unit;
    ctx.strokeRect(left, top, 16, 16);
  }
}
