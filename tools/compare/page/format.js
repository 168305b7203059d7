// Formatting of numbers, and HTML elements.
const MINUS = '\u2212', THIN = '\u00a0';

// Numbers of the page have thousands separators; numbers of frames and macroblocks are names.
function fixed(value, digits) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const [integer, rest] = Math.abs(value).toFixed(digits).split('.');
  const text = integer.replace(/\B(?=(\d{3})+$)/g, ',') + (rest ? `.${rest}` : '');
  return (value < 0 && /[1-9]/.test(text) ? MINUS : '') + text;
}
const signed = (value, digits) =>
  (Number(Number(value).toFixed(digits)) > 0 ? '+' : '') + fixed(value, digits);
const count = (value) => fixed(value, 0);
const percent = (part, all, digits = 1) =>
  (all ? fixed(100 * part / all, digits) + THIN + '%' : '–');
const signedPercent = (value, digits = 2) =>
  (value === null || value === undefined ? '–' : signed(value, digits) + THIN + '%');

// Returns by how many percent `ours` is above `theirs`; null if there is nothing to compare.
const change = (ours, theirs) => (theirs ? 100 * (ours - theirs) / theirs : null);

// Formats quarter samples as samples: 5 -> 1.25
const samples = (quarters) => fixed(quarters / 4, 2);
const vector = (mv) => `${samples(mv[0])}, ${samples(mv[1])}`;

// Makes an element: element('td', { class: 'x' }, child, 'text', ...). Skips null children.
function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined) node.setAttribute(key, value);
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined) node.append(child);
  return node;
}
const byId = (id) => document.getElementById(id);
const row = (cells) => element('tr', null, cells);
const th = (text, attributes) => element('th', { scope: 'col', ...attributes }, text);
const rowHead = (text, attributes) => element('th', { scope: 'row', ...attributes }, text);
const td = (text, attributes) => element('td', attributes, text);

function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
  return node;
}

// Returns a bar of three shares.
function shares(less, same, more) {
  const all = less + same + more;
  const part = (kind, value) =>
    element('span', { class: kind, style: `width:${all ? 100 * value / all : 0}%` });
  const words =
    `ours less ${percent(less, all)}, same ${percent(same, all)}, more ${percent(more, all)}`;
  return element('div', { class: 'bar', role: 'img', 'aria-label': words, title: words },
    part('less', less), part('even', same), part('more', more));
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
