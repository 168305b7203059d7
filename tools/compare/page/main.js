// Starts the page: choice of sequence and QP, the address, and all that depends on them.
function motusReport() {
  let report;
  try {
    report = loadReport();
  } catch (error) {
    fill(byId('verdict'),
      element('p', { class: 'notice' }, `This report cannot be read: ${error.message}.`));
    return;
  }
  const choice = {
    sequence: report.sequences.length === 1 ? report.sequences[0].name : null,
    qp: null
  };
  let viewer = null, quiet = false;

  // ---- The address: #sequence=..&qp=..&frame=..&mb=..&vectors=..&outlines=..&heat=..&zoom=.. ----

  function writeAddress() {
    if (quiet || !viewer || !viewer.sequence) return;
    const view = viewer.view, address = new URLSearchParams({
      sequence: viewer.sequence.name,
      qp: viewer.run ? viewer.run.qp : '',
      frame: viewer.frame
    });
    if (viewer.pinned !== null) address.set('mb', viewer.pinned);
    for (const [key, value] of Object.entries(
           { ...view, stretch: view.stretch === 1 ? 0 : view.stretch }))
      if (value && value !== 'none' && value !== 'both') address.set(key, value);
    if (view.vectors === 'none') address.set('vectors', 'none');
    byId('permalink').href = `#${address}`;
    if (!viewer.timer && history.replaceState) history.replaceState(null, '', `#${address}`);
  }

  // Parses the address; null if it selects nothing.
  function readAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    if (!address.has('frame') && !address.has('sequence')) return null;
    const number = (key) =>
      (/^\d+$/.test(address.get(key) || '') ? Number(address.get(key)) : undefined);
    return {
      sequence: address.get('sequence'),
      qp: number('qp'),
      frame: number('frame'),
      mb: number('mb'),
      view: Object.fromEntries(address)
    };
  }

  // ---- Drawing ----------------------------------------------------------------------------------

  const sequenceNow = () =>
    report.sequences.find((s) => s.name === choice.sequence) || report.sequences[0] || null;
  function words(runs) {
    if (runs.length === 1) return `${runs[0].sequence.name}, QP ${runs[0].run.qp}`;
    const name = choice.sequence ?? `${report.sequences.length} sequences`;
    return `${name}, ${choice.qp === null ? 'all QPs' : `QP ${choice.qp}`}`;
  }

  function drawVectorFigures() {
    const runs = chosenRuns(report, choice),
          own = document.querySelector('input[name=partition]:checked').value === 'own';
    const figures = addFigures(runs.map((r) => (own ? r.run.own : r.run.figures)));
    const blocks = own
      ? 'Blocks of the partition of least cost; x264’s vector counts if the block has only one.'
      : 'Blocks of the partition that x264 chose.';
    byId('vectors-note').textContent = `${words(runs)}. ${blocks}`;
    byId('hist-j-title').textContent =
      'Cost of ours minus cost of x264’s, J: % of blocks; a bar begins at its number';
    drawDistance(figures);
    drawDifference(figures);
    drawSizes(addSizes(runs.map((r) => (own ? r.run.own_by_size : r.run.by_size))), figures);
  }

  function drawAll() {
    const runs = chosenRuns(report, choice), sequence = sequenceNow();
    drawSummary(report, choice, (name, qp) => choose(name, qp));
    const isOneOfMany = choice.sequence === null && report.sequences.length > 1;
    const note = isOneOfMany ? '; choose another sequence above.' : ', all QPs.';
    byId('rd-note').textContent = sequence ? sequence.name + note : '';
    drawCurves(report, sequence);
    drawRdTable(report, sequence);
    drawBdTable(report, choice.sequence === null ? report.sequences : [sequence].filter(Boolean));
    drawVectorFigures();
    drawMatrix('confusion', `Macroblocks, ${words(runs)}`,
      addMatrices(runs.map((r) => r.run.confusion)), 'x264');
    drawMatrix('sub-confusion', 'Quarters that both code as 8×8',
      addMatrices(runs.map((r) => r.run.sub_confusion)), 'x264');
    drawBits(runs, report);
  }

  function openViewer(frame, mb) {
    const sequence = sequenceNow(),
          run = sequence ? sequence.runs.find((r) => r.qp === choice.qp) || sequence.runs[0] : null;
    const gaps = run ? gapsOf(report, sequence, run).map(gapWords).join(' and ') : '';
    const left = gaps ? ` To keep this page small, it lacks ${gaps}; ${KEEP_ALL}` : '';
    byId('viewer-note').textContent = run ? `${sequence.name} at QP ${run.qp}.${left}` : '';
    return viewer.open(sequence, run || null, frame, mb);
  }

  function choose(name, qp) {
    choice.sequence = name;
    choice.qp = qp;
    byId('choose-sequence').value = name === null ? '' : name;
    byId('choose-qp').value = qp === null ? '' : String(qp);
    drawAll();
    openViewer(viewer.frame || undefined, undefined);
  }

  function follow() {
    const asked = readAddress();
    if (!asked) return false;
    quiet = true;
    if (report.sequences.some((s) => s.name === asked.sequence)) choice.sequence = asked.sequence;
    const sequence = sequenceNow();
    if (sequence && sequence.runs.some((r) => r.qp === asked.qp)) choice.qp = asked.qp;
    byId('choose-sequence').value = choice.sequence === null ? '' : choice.sequence;
    byId('choose-qp').value = choice.qp === null ? '' : String(choice.qp);
    viewer.setView(asked.view);
    drawAll();
    Promise.resolve(openViewer(asked.frame, asked.mb)).then(() => {
      quiet = false;
      writeAddress();
    });
    return true;
  }

  function fillChoice() {
    const qps =
      [...new Set(report.sequences.flatMap((s) => s.runs.map((r) => r.qp)))].sort((a, b) => a - b);
    const option = (value, text) => element('option', { value }, text);
    const names = report.sequences.map((s) => s.name);
    fill(byId('choose-sequence'), names.length > 1 ? option('', 'all') : null,
      names.map((n) => option(n, n)));
    fill(byId('choose-qp'), qps.length > 1 ? option('', 'all') : null,
      qps.map((q) => option(String(q), String(q))));
    if (qps.length === 1) choice.qp = qps[0];
    const changed = () => choose(byId('choose-sequence').value || null,
      byId('choose-qp').value === '' ? null : Number(byId('choose-qp').value));
    byId('choose-sequence').addEventListener('change', changed);
    byId('choose-qp').addEventListener('change', changed);
    byId('choice').addEventListener('submit', (event) => event.preventDefault());
    for (const radio of document.querySelectorAll('input[name=partition]'))
      radio.addEventListener('change', drawVectorFigures);
  }

  function start() {
    viewer = new Viewer(report, writeAddress);
    const bar = byId('choice');
    const measure = () =>
      document.documentElement.style.setProperty('--bar', `${bar.offsetHeight}px`);
    new ResizeObserver(measure).observe(bar);
    measure();
    fillChoice();
    if (follow()) {
      byId('viewer').scrollIntoView();
    } else {
      quiet = true; // the address stays empty until something is chosen
      drawAll();
      Promise.resolve(openViewer()).then(() => { quiet = false; });
    }
    let width = document.documentElement.clientWidth;
    addEventListener('resize', () => {
      if (document.documentElement.clientWidth !== width)
        width = document.documentElement.clientWidth, redrawCharts();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      drawLegend(report);
      redrawCharts();
    });
    addEventListener('hashchange', follow);
    document.documentElement.dataset.ready = 'yes';
  }

  drawHeader(report);
  drawTiles(report);
  drawSummary(report, choice, (name, qp) => choose(name, qp));
  drawHow(report);
  requestAnimationFrame(() => setTimeout(start, 0)); // after the verdict is painted
}
