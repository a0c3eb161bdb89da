(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const text = (i) => data.texts[i];
  const main = document.getElementById('main');

  // ---- words

  const digits = (x) => (x === 0 ? '0' : Number(x.toPrecision(3)).toString());
  const scaled = (x, step, units) => {
    let u = 0;
    while (Math.abs(x) >= step && u + 1 < units.length) { x /= step; u += 1; }
    return `${digits(x)} ${units[u]}`;
  };
  const bytes = (x) => scaled(x, 1000, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']);
  const seconds = (s) => (Math.abs(s) >= 1 ? `${digits(s)} s` : scaled(s * 1e9, 1000, ['ns', 'µs', 'ms']));
  const count = (n) => n.toLocaleString('en');
  const short = (place) => place.replace(/[^ (]*\//g, '');

  // ---- elements; what a program says only ever becomes text

  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else if (value !== false && value !== undefined) node.setAttribute(key, value);
    }
    node.append(...children.filter((c) => c !== undefined && c !== null));
    return node;
  };
  const svg = (tag, attributes = {}, words) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (words !== undefined) node.textContent = words;
    return node;
  };

  const section = (id, name) => {
    const box = el('section', { id, 'aria-labelledby': `${id}-head` },
      el('h2', { id: `${id}-head` }, name));
    document.getElementById('contents').append(el('a', { href: `#${id}` }, name));
    main.append(box);
    return box;
  };

  // A table that makes its rows as they are wanted. A column is [name, is a number, cell of a row];
  // `words` is what a row is found by, `below` what opens under it.
  const kStep = 100;
  const tables = [];
  const table = (parent, caption, columns, rows, words, below) => {
    if (rows.length === 0) {
      parent.append(el('p', { class: 'dim' }, `${caption}: nothing`));
      return;
    }
    const body = el('tbody');
    const more = el('button', { class: 'more', type: 'button' });
    const note = el('caption');
    parent.append(el('table', {}, note,
      el('thead', {}, el('tr', {}, ...columns.map(([name, isNumber]) =>
        el('th', { scope: 'col', class: isNumber ? 'n' : false }, name)))), body), more);
    let shown = rows, made = 0;
    const add = () => {
      for (const end = Math.min(made + kStep, shown.length); made < end; made += 1) {
        const row = shown[made];
        const line = el('tr', {}, ...columns.map(([, isNumber, cell]) =>
          el('td', { class: isNumber ? 'n' : false }, cell(row))));
        body.append(line);
        if (below) addBelow(line, row, columns.length, below);
      }
      more.hidden = made >= shown.length;
      more.textContent = `${count(shown.length - made)} more`;
    };
    const find = (query) => {
      shown = query === '' ? rows : rows.filter((r) => words(r).toLowerCase().includes(query));
      note.textContent = query === '' ? caption : `${caption}: ${count(shown.length)} of ${count(rows.length)} found`;
      body.replaceChildren();
      made = 0;
      add();
    };
    more.addEventListener('click', add);
    tables.push(find);
    find('');
  };
  const addBelow = (line, row, width, below) => {
    const make = below(row);
    if (!make) return;
    let open = null;
    const button = el('button', { type: 'button', 'aria-expanded': 'false', onclick: () => {
      if (open) { open.remove(); open = null; } else {
        open = el('tr', { class: 'why' }, el('td', { colspan: width }, make()));
        line.after(open);
      }
      button.setAttribute('aria-expanded', String(open !== null));
    } }, 'why not …');
    line.lastElementChild.append(' ', button);
  };

  // ---- one function

  const figure = (value, words) => el('li', {}, el('b', {}, value), el('span', {}, words));

  const answer = (f, box) => {
    const a = f.answer;
    const list = el('ul', { class: 'figures' });
    if (a.step !== undefined) list.append(figure(seconds(a.step), 'a step, predicted'));
    if (a.compute !== undefined) list.append(figure(seconds(a.compute), 'of it compute'));
    if (a.moves !== undefined) list.append(figure(seconds(a.moves), 'exposed communication'));
    if (a.bubble !== undefined) list.append(figure(`${digits(100 * a.bubble)} %`, 'of it stages wait'));
    if (a.gap !== undefined) {
      list.append(figure(`${digits(100 * a.gap)} %`,
        `at most from the best: none takes less than ${seconds(a.bound)}`));
    }
    const peak = a.compiled !== undefined ? a.compiled : f.memory.peak;
    const most = figure(bytes(peak), a.limit === undefined ? 'of a device at the peak'
      : `of ${bytes(a.limit)} of a device at the peak`);
    if (a.limit !== undefined && peak > a.limit) most.firstChild.classList.add('more-cost');
    list.append(most);
    box.append(el('p', {}, `@${f.name} on ${count(f.devices)} devices (${f.mesh})`,
      a.searched === undefined ? '' : `, found in ${seconds(a.searched)}`), list);
    box.append(el('table', {}, el('caption', {}, 'What each axis of the mesh splits'),
      el('tbody', {}, ...a.words.map(([axis, words]) =>
        el('tr', {}, el('th', { scope: 'row' }, axis), el('td', {}, words))))));
  };

  const picture = (f, type, lies) => {
    const drawn = f.pictures[`${type}.${lies}`];
    if (!drawn) return null;
    return el('img', { alt: `${text(type)} as ${text(lies)}`, loading: 'lazy',
      src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn)}` });
  };

  const difference = (more) => el('span', { class: more > 0 ? 'more-cost' : 'less-cost' },
    `${more > 0 ? '+' : more < 0 ? '−' : '±'}${seconds(Math.abs(more))}`);

  // What else it could be, with what that would cost.
  const why = (f, number, type, lies) => {
    const choice = f.choices[number];
    const columns = el('div', { class: 'sides' });
    const drawn = lies === undefined ? null : picture(f, type, lies);
    const list = el('div');
    list.append(el('p', {}, choice.alike > 1 ? `Chosen once for ${count(choice.alike)} that are alike. ` : '',
      choice.alone ? 'Each other way, for this op alone with its operands as they lie:'
        : 'Each other way, with what is next to it changed where that pays; the best plan with it takes no more:'));
    const body = el('tbody');
    const row = (way, last) => el('tr', {}, el('td', {}, el('code', {}, text(way[0]))),
      el('td', {}, el('code', {}, text(way[1]))), el('td', {}, el('code', {}, text(way[2]))), ...last);
    body.append(row(choice.way, [el('td', { class: 'n' }, 'chosen'), el('td', { class: 'n' })]));
    for (const way of choice.others) {
      const memory = way[4];
      body.append(row(way, [el('td', { class: 'n' }, difference(way[3])),
        el('td', { class: 'n' }, memory === 0 ? '' : `${memory > 0 ? '+' : '−'}${bytes(Math.abs(memory))}`)]));
    }
    if (choice.others.length === 0) list.append(el('p', {}, 'There is no other way.'));
    list.append(el('table', {}, el('thead', {}, el('tr', {}, ...['split', 'takes', 'lies as'].map((h) =>
      el('th', { scope: 'col' }, h)), el('th', { scope: 'col', class: 'n' }, 'a step'),
    el('th', { scope: 'col', class: 'n' }, 'peak memory'))), body));
    if (choice.more > 0) list.append(el('p', { class: 'dim' }, `and ${count(choice.more)} dearer ones`));
    columns.append(list);
    if (drawn) columns.append(drawn);
    return columns;
  };

  const values = (f, box, word, rows) => {
    const numbered = rows.map((r, i) => [`${word}${i}`, ...r]);
    table(box, `${count(rows.length)} ${word === 'arg' ? 'arguments' : 'results'}`, [
      ['', false, (r) => el('code', {}, r[0])],
      ['name', false, (r) => text(r[1])],
      ['type', false, (r) => el('code', {}, text(r[2]))],
      ['lies as', false, (r) => el('code', {}, text(r[3]))],
      ['of it, a device has', false, (r) => el('code', {}, text(r[4]))],
      ...(f.timeline ? [['stage', false, (r) => text(r[6])]] : []),
    ], numbered, (r) => [r[0], text(r[1]), text(r[2]), text(r[3])].join(' '),
    (r) => (r[5] >= 0 ? () => why(f, r[5], r[2], r[3])
      : f.pictures[`${r[2]}.${r[3]}`] ? () => picture(f, r[2], r[3]) : null));
  };

  const opWords = (op) => [text(op.op), text(op.at), op.by === undefined ? '' : text(op.by),
    text(op.type), op.lies === undefined ? '' : text(op.lies)].join(' ');
  const place = (op) => el('span', { title: text(op.at) }, short(op.by === undefined ? text(op.at) : text(op.by)));
  const opTable = (f, box, caption, ops) => table(box, caption, [
    ['op', false, (op) => el('code', {}, text(op.op))],
    ['at', false, place],
    ['gives', false, (op) => el('code', {}, text(op.type))],
    ['by itself', true, (op) => seconds(op.s)],
    ['operands come in', true, (op) => (op.bring === undefined ? '' : seconds(op.bring))],
    ['lies as', false, (op) => el('code', {}, op.lies === undefined ? '' : text(op.lies))],
  ], ops, opWords, (op) => (op.why === undefined ? null : () => why(f, op.why, op.type, op.lies)));

  // Layers open when somebody looks into them.
  const opening = (name, fill) => {
    const box = el('details', {}, el('summary', {}, name));
    let filled = false;
    box.addEventListener('toggle', () => {
      if (box.open && !filled) { filled = true; fill(box); }
    });
    return box;
  };
  const folds = (f, box, list) => {
    for (const fold of list) {
      const name = `${fold.n > 1 ? `${count(fold.n)} × ` : ''}${count(fold.count)} ops: ${text(fold.of)} (${seconds(fold.seconds)}${fold.n > 1 ? ' together' : ''})`;
      if (fold.n > 1) {
        box.append(opening(name, (inner) => folds(f, inner, fold.inside)));
        continue;
      }
      const plain = [];
      for (const op of fold.ops) {
        plain.push(op);
        if (op.body) {
          box.append(opening(`${text(op.op)} at ${short(text(op.at))}: its body`,
            (inner) => folds(f, inner, op.body)));
        }
      }
      box.append(opening(name, (inner) => opTable(f, inner, plain.length < fold.count
        ? `${count(plain.length)} of ${count(fold.count)} ops: the page ends here` : `${count(plain.length)} ops`, plain)));
    }
  };
  const flat = (list, out = []) => {
    for (const fold of list) {
      if (fold.inside) flat(fold.inside, out);
      for (const op of fold.ops || []) { out.push(op); if (op.body) flat(op.body, out); }
    }
    return out;
  };
  const program = (f, box) => {
    const tree = el('div');
    const found = el('div');
    box.append(el('p', { class: 'dim' }, 'In order; layers that are alike are folded into one.'), tree, found);
    folds(f, tree, f.program);
    const ops = flat(f.program);
    tables.push((query) => {
      tree.hidden = query !== '';
      found.replaceChildren();
      if (query === '') return;
      const before = tables.length;
      const those = ops.filter((op) => opWords(op).toLowerCase().includes(query));
      opTable(f, found, `${count(those.length)} ops found, of layers that are alike in one`, those);
      tables.length = before;
    });
  };

  const moves = (f, box) => {
    const all = f.moves.reduce((sum, m) => sum + m.seconds, 0);
    table(box, `${count(f.moves.length)} kinds of communication, ${count(f.collectives)} collectives, ${seconds(all)} where none hides`, [
      ...(f.timeline ? [['stage', false, (m) => (m.stage < 0 ? 'at the end' : m.stage)]] : []),
      ['collective', false, (m) => text(m.kind)],
      ['over', false, (m) => el('code', {}, text(m.over))],
      ['times', true, (m) => count(m.count)],
      ['received each time', true, (m) => bytes(m.bytes)],
      ['together', true, (m) => seconds(m.seconds)],
      ['share', true, (m) => `${digits(all > 0 ? 100 * m.seconds / all : 0)} %`],
      ['needed by', false, (m) => el('span', { title: text(m.for) }, short(text(m.for)))],
      ['value', false, (m) => el('code', {}, text(m.value))],
    ], f.moves, (m) => [text(m.kind), text(m.over), text(m.for), text(m.value)].join(' '));
  };

  const memory = (f, box) => {
    const m = f.memory;
    const width = 1000, height = 240, left = 8, top = 24, bottom = 24;
    const last = Math.max(1, ...m.points.map((p) => p[0]));
    // What a device has is in the picture where the peak comes near to it.
    const limit = f.answer.limit !== undefined && f.answer.limit < 3 * m.peak ? f.answer.limit : undefined;
    const most = Math.max(1, m.peak, limit || 0);
    const x = (t) => left + (width - 2 * left) * t / last;
    const y = (b) => height - bottom - (height - top - bottom) * b / most;
    const chart = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img',
      'aria-label': `memory over time, ${bytes(m.peak)} at the peak` });
    chart.append(svg('path', { class: 'area', d: `M${x(0)} ${y(0)}` +
      m.points.map(([t, b]) => `L${x(t).toFixed(1)} ${y(b).toFixed(1)}`).join('') + `L${x(last)} ${y(0)}Z` }));
    chart.append(svg('line', { class: 'mark', x1: x(m.fullest), x2: x(m.fullest), y1: y(0), y2: y(m.peak) }));
    const atEnd = m.fullest > last * 0.7;
    chart.append(svg('text', { x: x(m.fullest) + (atEnd ? -6 : 6), y: Math.max(14, y(m.peak) - 6),
      'text-anchor': atEnd ? 'end' : 'start' }, `${bytes(m.peak)} at op ${count(m.fullest)}`));
    if (limit !== undefined) {
      chart.append(svg('line', { class: 'axis', x1: left, x2: width - left, y1: y(limit), y2: y(limit) }));
      chart.append(svg('text', { x: left + 4, y: y(limit) - 4 }, `a device has ${bytes(limit)}`));
    }
    chart.append(svg('text', { x: left, y: height - 7 }, 'the first op'),
      svg('text', { x: width - left, y: height - 7, 'text-anchor': 'end' }, 'the last op'));
    box.append(el('p', { class: 'dim' }, `Bytes of a device, ${m.from}.`), chart);
    table(box, 'the largest values at the peak', [
      ['value', false, (r) => el('span', { title: text(r[0]) }, short(text(r[0])))],
      ['bytes', true, (r) => bytes(r[1])],
    ], m.largest, (r) => text(r[0]));
  };

  // ---- the page

  document.getElementById('title').textContent = data.title;
  if (data.failure) main.append(el('p', { class: 'failure', role: 'alert' }, data.failure));
  data.functions.forEach((f, i) => {
    const id = (name) => (i === 0 ? name : `${name}-${i}`);
    if (!f.answer) {
      section(id('answer'), `@${f.name}`).append(el('p', {}, 'On one device: nothing is split.'));
      return;
    }
    const heading = (name) => (data.functions.length > 1 ? `${name} of @${f.name}` : name);
    answer(f, section(id('answer'), heading('The plan')));
    program(f, section(id('program'), heading('Program')));
    moves(f, section(id('communication'), heading('Communication')));
    if (f.timeline) {
      const held = pipelineSection(f, section(id('timeline'), heading('Pipeline')),
        { el, svg, seconds, bytes, digits, count, table });
      section(id('memory'), heading('Memory')).append(
        el('p', { class: 'dim' }, 'Bytes of a device of each stage over a step, as counted.'), held());
    } else {
      memory(f, section(id('memory'), heading('Memory')));
    }
    const box = section(id('values'), heading('Arguments and results'));
    values(f, box, 'arg', f.arguments);
    values(f, box, 'result', f.results);
    if (f.conflicts.length) {
      table(section(id('conflicts'), heading('Conflicts')), `${count(f.conflicts.length)} conflicts between layouts`, [
        ['op', false, (c) => short(text(c[0]))], ['what', false, (c) => text(c[1])],
      ], f.conflicts, (c) => `${text(c[0])} ${text(c[1])}`);
    }
  });

  const input = document.getElementById('find');
  let wait = 0;
  const findNow = () => { for (const find of [...tables]) find(input.value.trim().toLowerCase()); };
  input.addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(findNow, 120); });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== input) { event.preventDefault(); input.focus(); }
    if (event.key === 'Escape' && input.value !== '') { input.value = ''; findNow(); }
  });
  // #find=words opens the page with them looked for, #why=arg0 with the answer for what is found.
  const [, asked, words] = /^#(find|why)=(.*)$/.exec(location.hash) || [];
  if (asked) {
    input.value = decodeURIComponent(words);
    findNow();
    const button = asked === 'why' && [...document.querySelectorAll('#values button[aria-expanded]')][0];
    if (button) { button.click(); button.scrollIntoView(); }
  }
  document.body.dataset.ready = 'yes';
})();
