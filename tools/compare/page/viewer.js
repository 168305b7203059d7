// The frame viewer: a picture with overlays, and the numbers of a macroblock.
const KEPT_FRAMES = 48; // decoded pictures and unpacked frames in the cache

class Viewer {
  constructor(report, onChange) {
    this.report = report;
    this.onChange = onChange; // called when the address should change
    this.sequence = this.run = this.mbs = this.image = null;
    this.frame = 0;
    this.pinned = this.hovered = null; // numbers of macroblocks
    this.timer = null;
    this.images = new Map();
    this.unpacked = new Map();
    this.canvas = byId('canvas');
    // The frame without the mark, so that moving the pointer does not redraw all vectors.
    this.drawn = document.createElement('canvas');
    this.bind();
  }

  get view() {
    const vectors = document.querySelector('input[name=vectors]:checked').value;
    return {
      vectors,
      outlines: byId('outlines').value,
      heat: byId('heat').value,
      stretch: Number(byId('stretch').value),
      zoom: Number(byId('zoom').value)
    };
  }

  setView({ vectors, outlines, heat, stretch, zoom }) {
    const radio =
      document.querySelector(`input[name=vectors][value="${CSS.escape(vectors || 'both')}"]`);
    if (radio) radio.checked = true;
    for (const [id, value] of [['outlines', outlines || 'none'], ['heat', heat || 'none'],
           ['stretch', stretch || '1'], ['zoom', zoom || '0']]) {
      byId(id).value = value;
      if (byId(id).selectedIndex < 0) byId(id).selectedIndex = 0;
    }
  }

  // ---- What is shown ----------------------------------------------------------------------------

  open(sequence, run, frame, mb) {
    const other = sequence !== this.sequence;
    if (other || run !== this.run) this.stop(), this.unpacked.clear();
    if (other) this.images.clear();
    [this.sequence, this.run] = [sequence, run];
    const all = sequence ? sequence.mb_width * sequence.mb_height : 0;
    this.pinned = Number.isInteger(mb) && mb >= 0 && mb < all ? mb : null;
    this.hovered = null;
    const last = this.frames().length - 1;
    byId('slider').max = Math.max(last, 0);
    drawTimeline(run, () => this.frame, (n) => this.show(n));
    byId('timeline-legend').textContent =
      `(solid: motus, dashed: x264${run ? `, QP ${run.qp}` : ''})`;
    return this.show(Number.isInteger(frame) ? frame : Math.min(1, Math.max(last, 0)));
  }

  frames() { return (this.run && this.run.frames) || []; }

  keep(map, key, make) {
    if (!map.has(key)) map.set(key, make());
    const value = map.get(key);
    map.delete(key), map.set(key, value); // moves it to the end: the oldest is first
    while (map.size > KEPT_FRAMES) map.delete(map.keys().next().value);
    return value;
  }

  loadImage(n) {
    const uri = this.sequence.pictures[n];
    if (!uri) return Promise.resolve(null);
    return this.keep(this.images, n, () => {
      const image = new Image();
      image.src = uri;
      return image.decode().then(() => image, () => null);
    });
  }

  loadMbs(n) {
    return this.keep(this.unpacked, n,
      () => unpackFrame(this.report, this.sequence, this.run, this.frames()[n]).catch((error) => {
        console.warn(`frame ${n}: ${error.message}`);
        return null;
      }));
  }

  async show(n) {
    delete this.canvas.dataset.frame;
    this.frame = Math.max(0, Math.min(n, this.frames().length - 1));
    byId('slider').value = this.frame;
    const info = this.frames()[this.frame];
    byId('frame-number').textContent =
      info ? `${this.frame} / ${this.frames().length - 1} (${info.type})` : '–';
    byId('slider').setAttribute(
      'aria-valuetext', info ? `Frame ${this.frame}, ${info.type} picture` : 'none');
    if (!this.sequence || !info) return this.nothing();
    const [sequence, run, shown] = [this.sequence, this.run, this.frame];
    const [image, mbs] = await Promise.all([this.loadImage(shown), this.loadMbs(shown)]);
    // another frame was chosen meanwhile
    if (sequence !== this.sequence || run !== this.run || shown !== this.frame) return undefined;
    [this.image, this.mbs] = [image, mbs];
    this.tellEmpty(info);
    this.draw();
    this.tellMb();
    this.tellExtremes();
    if (charts.has('timeline')) charts.get('timeline').chart.redraw(false, false);
    this.canvas.dataset.frame = String(shown); // for tests: the frame that is drawn
    this.onChange();
    return undefined;
  }

  nothing() {
    [this.image, this.mbs] = [null, null];
    this.canvas.hidden = true;
    byId('viewer-empty').hidden = false;
    byId('viewer-empty').textContent = 'There are no frames to show.';
  }

  tellEmpty(info) {
    const words = [];
    if (!this.image) words.push('Its picture was left out to keep this page small.');
    if (!this.mbs)
      words.push(info.type === 'I' ? 'An I picture has no vectors.'
                                   : 'Its macroblocks were left out to keep this page small.');
    if (!this.image || (!this.mbs && info.type !== 'I')) words.push(KEEP_ALL);
    this.canvas.hidden = false;
    byId('viewer-empty').hidden = !words.length;
    byId('viewer-empty').textContent = words.join(' ');
  }

  // ---- Drawing ----------------------------------------------------------------------------------

  draw() {
    const { sequence, canvas } = this;
    if (!sequence) return;
    const view = this.view, wide = byId('picture').clientWidth || sequence.width;
    const width = view.zoom ? sequence.width * view.zoom : Math.min(wide, sequence.width * 4);
    const ratio = Math.min(devicePixelRatio || 1, 2), scale = width / sequence.width;
    canvas.style.width = `${width}px`,
    canvas.style.height = `${Math.round(sequence.height * scale)}px`;
    canvas.width = Math.round(width * ratio),
    canvas.height = Math.round(sequence.height * scale * ratio);
    [this.drawn.width, this.drawn.height, this.scale, this.ratio] =
      [canvas.width, canvas.height, scale, ratio];
    const ctx = this.drawn.getContext('2d'),
          heat = this.mbs && view.heat !== 'none' ? heatScale(this.mbs, view.heat) : 0;
    ctx.setTransform(scale * ratio, 0, 0, scale * ratio, 0, 0);
    drawFrame(ctx, sequence, this.image, this.mbs, view, 1 / scale, heat);
    this.tellLegend(view, heat);
    this.mark();
  }

  mark() {
    const ctx = this.canvas.getContext('2d'), n = this.mb(), s = this.scale * this.ratio;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.drawImage(this.drawn, 0, 0);
    ctx.setTransform(s, 0, 0, s, 0, 0);
    if (n !== null) drawMark(ctx, this.sequence, n, 1 / this.scale);
  }

  tellLegend(view, heat) {
    const words = [], colored = (text, color) => element('span', { class: color }, text);
    if (view.vectors !== 'none') {
      const whose = {
        ours: [colored('ours', 'ours')],
        x264: [colored('x264’s', 'x264')],
        both: [
          colored('ours', 'ours'), ', ', colored('x264’s', 'x264'),
          ownBlocks(view) ? '' : ', grey where they are the same'
        ]
      }[view.vectors];
      words.push('Vectors: ', ...whose, '; an arrow points from where the block was in the picture',
        ' before', view.stretch > 1 ? ` (${view.stretch} times as far)` : '',
        ' to its centre, a dot is at rest. ');
    }
    if (view.outlines !== 'none') words.push('Outlines: faint P_Skip, filled intra. ');
    if (view.heat !== 'none') {
      const ramp = element('span', {
        class: 'swatch',
        style: `background: linear-gradient(90deg, ${OVER.ours}, transparent 50%, ${OVER.x264})`
      });
      const units = { j: 'J', own: criterionOf(this.report).toUpperCase(), bits: 'bits' };
      words.push('Heat map: ours less ', `${fixed(-heat, 0)} `, ramp,
        ` ${signed(heat, 0)} ours more, a macroblock (${units[view.heat]}).`);
    }
    fill(byId('viewer-legend'), words);
  }

  // ---- A macroblock -----------------------------------------------------------------------------

  mb() { return this.hovered ?? this.pinned; }

  mbAt(event) {
    const box = this.canvas.getBoundingClientRect(), { sequence } = this;
    const x = Math.floor((event.clientX - box.left) / box.width * sequence.width / 16),
          y = Math.floor((event.clientY - box.top) / box.height * sequence.height / 16);
    return x < 0 || y < 0 || x >= sequence.mb_width || y >= sequence.mb_height
             ? null
             : y * sequence.mb_width + x;
  }

  tellMb() {
    const n = this.mb(), known = n !== null && this.sequence && this.mbs;
    byId('mb-empty').hidden = n !== null;
    byId('mb-panel').hidden = n === null;
    const columns = this.sequence ? this.sequence.mb_width : 1;
    const place = ` ${n} at ${16 * (n % columns)}, ${16 * Math.floor(n / columns)}`;
    byId('mb-title').textContent = `Macroblock${n === null ? '' : place}`;
    if (n === null) return;
    const nothing = element('p', { class: 'muted' }, 'This frame has no macroblocks to read.');
    fill(byId('mb-panel'), known ? describeMb(this.mbs[n]) : nothing);
  }

  // Lists the macroblocks where ours costs least and most against x264's.
  tellExtremes() {
    const all = (this.mbs || [])
                  .map((mb, n) => ({ n, j: heatOf(mb, 'j') }))
                  .filter((m) => m.j)
                  .sort((a, b) => a.j - b.j);
    const button = (m) => {
      const node =
        element('button', { type: 'button', class: 'small' }, `${m.n}: ${signed(m.j, 0)}`);
      node.addEventListener('click', () => this.pin(m.n));
      return node;
    };
    const line = (title, list) =>
      (list.length
          ? [element('h4', null, title), element('p', { class: 'buttons' }, list.map(button))]
          : null);
    fill(byId('extremes'),
      line('Where ours costs least against x264’s, J', all.filter((m) => m.j < 0).slice(0, 4)),
      line('Where it costs most', all.filter((m) => m.j > 0).reverse().slice(0, 4)));
  }

  point(n) {
    if (n === this.hovered) return;
    this.hovered = n;
    this.mark();
    this.tellMb();
  }

  pin(n) {
    this.pinned = n;
    this.hovered = null;
    this.mark();
    this.tellMb();
    this.onChange();
  }

  step(dx, dy) {
    const { sequence } = this, at = this.mb() ?? -1;
    if (at < 0) return this.pin(0);
    const x = Math.max(0, Math.min(sequence.mb_width - 1, at % sequence.mb_width + dx));
    const y =
      Math.max(0, Math.min(sequence.mb_height - 1, Math.floor(at / sequence.mb_width) + dy));
    return this.pin(y * sequence.mb_width + x);
  }

  // ---- Playing and keys -------------------------------------------------------------------------

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    byId('play').textContent = 'Play';
    byId('play').setAttribute('aria-pressed', 'false');
  }

  play() {
    if (this.timer) return this.stop();
    if (this.frames().length < 2) return undefined;
    byId('play').textContent = 'Stop';
    byId('play').setAttribute('aria-pressed', 'true');
    const [num, den] = this.sequence.fps || [25, 1], period = 1000 * den / num;
    let due = performance.now();
    const next = async () => {
      // skip frames that would be late
      const late = Math.floor((performance.now() - due) / period),
            to = this.frame + 1 + Math.min(Math.max(late, 0), 5);
      due += (to - this.frame) * period;
      if (late > 5) due = performance.now() + period;
      await this.show(to < this.frames().length ? to : 0);
      if (!this.timer) return;
      for (const ahead of [this.frame + 1, this.frame + 2])
        if (ahead < this.frames().length) this.loadImage(ahead), this.loadMbs(ahead);
      this.timer = setTimeout(next, Math.max(0, due - performance.now()));
    };
    this.timer = setTimeout(next, 0);
    return undefined;
  }

  key(event) {
    const keys = {
      ArrowLeft: () => this.step(-1, 0),
      ArrowRight: () => this.step(1, 0),
      ArrowUp: () => this.step(0, -1),
      ArrowDown: () => this.step(0, 1),
      ',' : () => this.show(this.frame - 1),
      '.' : () => this.show(this.frame + 1),
      ' ' : () => this.play(),
      Home: () => this.show(0),
      End: () => this.show(this.frames().length - 1),
      Escape: () => this.pin(null),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  }

  bind() {
    const on = (id, name, act) => byId(id).addEventListener(name, act);
    on('slider', 'input', (e) => { this.stop(); this.show(Number(e.target.value)); });
    on('previous', 'click', () => { this.stop(); this.show(this.frame - 1); });
    on('next', 'click', () => { this.stop(); this.show(this.frame + 1); });
    on('play', 'click', () => this.play());
    const changed = () => { this.draw(); this.onChange(); };
    for (const id of ['outlines', 'heat', 'stretch', 'zoom']) on(id, 'change', changed);
    for (const radio of document.querySelectorAll('input[name=vectors]'))
      radio.addEventListener('change', changed);
    on('canvas', 'pointermove', (e) => {
      if (this.sequence && e.pointerType !== 'touch') this.point(this.mbAt(e));
    });
    on('canvas', 'pointerleave', () => this.point(null));
    on('canvas', 'click', (e) => { if (this.sequence) this.pin(this.mbAt(e)); });
    on('canvas', 'keydown', (e) => this.key(e));
    new ResizeObserver(() => this.draw()).observe(byId('picture'));
  }
}
